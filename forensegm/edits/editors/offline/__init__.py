"""Editors that need no model and no download: each is a technique of real manipulations, with its own trace."""
