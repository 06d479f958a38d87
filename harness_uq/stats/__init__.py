"""Statistics on plain arrays: numpy and scipy.special only, no files, no printing, no global state."""
