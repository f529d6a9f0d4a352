# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Text files and open documents: read as the user sees them, and changed in place."""
