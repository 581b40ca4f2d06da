# SPDX-License-Identifier: BSD-3-Clause
"""Adds what pyproject.toml cannot say: the module of cffi, and the tag of one wheel for all versions of Python from 3.9 on."""
from setuptools import setup

setup(cffi_modules=["build_binding.py:builder"], options={"bdist_wheel": {"py_limited_api": "cp39"}})
