"""What the DataLoader is made of: collating, fetching, workers, pinned memory."""
