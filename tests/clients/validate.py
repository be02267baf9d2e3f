"""Checks a JSON document against one of our schemas (both files) with a validator that is not ours."""

import json
import pathlib
import sys

from jsonschema import Draft202012Validator
from referencing import Registry, Resource


def read(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def main(folder, name, document):
    published = [read(path) for path in pathlib.Path(folder).rglob("*.json")]
    for schema in published:
        Draft202012Validator.check_schema(schema)
    registry = Registry().with_resources([(it["$id"], Resource.from_contents(it)) for it in published])
    validator = Draft202012Validator(
        read(pathlib.Path(folder, name)),
        registry=registry,
        format_checker=Draft202012Validator.FORMAT_CHECKER,
    )
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(read(document))]


if __name__ == "__main__":
    complaints = main(*sys.argv[1:4])
    print("\n".join(complaints))
