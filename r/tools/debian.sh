#!/usr/bin/env bash
# Installs R and the packages that the tests need from Debian, those that are missing.
set -euo pipefail
packages="r-base-core r-cran-reticulate r-cran-cluster r-cran-testthat r-cran-matrix r-cran-roxygen2 r-cran-knitr
  r-cran-rmarkdown r-cran-factoextra r-cran-broom pandoc"
missing=""
for package in $packages; do
  dpkg-query --show --showformat='${Status}' "$package" 2> /dev/null | grep -q "ok installed" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
root=""
[ "$(id -u)" = 0 ] || root=sudo
$root apt-get update -q
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $root apt-get install -y -q --no-install-recommends $missing
