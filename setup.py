"""Puts the files that ship beside the code into the wheel, as a folder `regard`; all else is in pyproject.toml.

`model_core/shipped.py` finds them there. A checkpoint that is to ship is named here.
"""

from setuptools import find_packages, setup

SHIPPED = ["app.py", ".streamlit/config.toml", "checkpoints/en-fr/*", "checkpoints/copy/*"]

setup(
    packages=[*find_packages(include=["model_core*", "viz*"]), "regard"],
    package_dir={"regard": "."},
    package_data={"*": ["*.tsv", "*.css", "*.js"], "regard": SHIPPED},
)
