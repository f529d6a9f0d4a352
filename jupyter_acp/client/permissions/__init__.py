# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What agents may do through us: the rules, what the user is asked, and which files are protected."""
