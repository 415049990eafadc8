"""Keeps an EVM chain's blocks small on disk and reads them back at decode speed."""
