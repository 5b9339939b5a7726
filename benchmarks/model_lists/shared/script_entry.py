"""Takes the imports, classes and functions out of a script that trains when it is imported, on both sides alike."""

import ast
import contextlib
import os
import sys
import types


def build(file, name, arguments=(), given=None, **settings):
    """Build ``name`` of the script ``file``; ``given``: the module's variables that its lower part would set."""
    values = {
        key: types.SimpleNamespace(**value) if isinstance(value, dict) else value
        for key, value in (given or {}).items()
    }
    root = os.path.dirname(os.path.abspath(__file__))
    sys.path[:0] = [os.path.dirname(os.path.join(root, file)), root]
    with open(os.path.join(root, file)) as stream:
        tree = ast.parse(stream.read())
    module = types.ModuleType("script")
    vars(module).update(values, __file__=os.path.join(root, file))
    sys.modules["script"] = module
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Try, ast.ClassDef, ast.FunctionDef)):
            with contextlib.suppress(ImportError):
                exec(compile(ast.Module([node], []), file, "exec"), vars(module))
    del sys.path[:2]
    return vars(module)[name](*arguments, **settings)
