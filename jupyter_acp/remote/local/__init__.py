# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Operations on the user's own repository: sending work from it, and taking results into it."""
