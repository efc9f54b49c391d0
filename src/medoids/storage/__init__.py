"""What is read from and written to files: checkpoints, fingerprints of data, outputs, rows in Parquet and Zarr."""
