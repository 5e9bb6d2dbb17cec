"""Training: fits any model to a data set under any estimate. Its options need no torch, the loop does."""
