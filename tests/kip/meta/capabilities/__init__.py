"""Each capability is as DESCRIBE CAPABILITIES tells it, whether it is there or not."""
