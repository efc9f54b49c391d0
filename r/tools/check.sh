#!/usr/bin/env bash
# Builds the R package and runs R CMD check with its tests; fails on any failure, error or warning.
#   bash r/tools/check.sh PYTHON
set -euo pipefail
export RETICULATE_PYTHON="$1"
source="$(cd "$(dirname "$0")/.." && pwd)"
folder="$source/../.r-check"
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

# Help pages are generated: the committed ones must be those of the sources.
cp -r "$source" copy
(cd copy && Rscript -e 'suppressMessages(roxygen2::roxygenise(load_code = "source"))' > /dev/null)
if ! diff -r "$source/man" copy/man || ! diff "$source/NAMESPACE" copy/NAMESPACE; then
  echo "the help pages are not up to date: run make docs-r" >&2
  exit 1
fi

R CMD build "$source"
status=0
R CMD check --no-manual medoids_*.tar.gz || status=$?
# What was tested, skipped (with the reason) or failed.
sed -n '/test_check/,$p' medoids.Rcheck/tests/testthat.Rout*
if grep -E "^Status:.*(ERROR|WARNING)" medoids.Rcheck/00check.log; then status=1; fi
exit $status
