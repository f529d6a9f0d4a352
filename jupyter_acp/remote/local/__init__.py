# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""The user's own repository: what is sent from it, and what is done with the results that come back."""
