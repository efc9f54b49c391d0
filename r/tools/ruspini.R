# Draws ruspini.png, the picture of the README.
suppressMessages(library(medoids))
fit <- kmedoids(ruspini, 4)
png("man/figures/ruspini.png", width = 1500, height = 700, res = 150)
par(mfrow = c(1, 2), mar = c(4, 4, 2, 1))
plot(ruspini, col = fit$clustering + 1, pch = 19, main = "Clusters and their medoids")
points(fit$medoids, pch = 4, cex = 2.5, lwd = 3)
plot(silhouette(fit), col = 2:5, main = "Silhouettes", border = NA)
invisible(dev.off())
