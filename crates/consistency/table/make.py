"""Makes words.bin, the table of word vectors, from potion-base-2M (MIT, The Minish Lab).

    python3 make.py FOLDER      with model.safetensors and tokenizer.json of the model

The file: the number of rows and of columns (u32); for each row, sorted by its piece, the end of the
piece in the text (u32), its rank among all pieces (u16) and the scale of the row (f32); the rows
(i8); the text of all pieces. Numbers are little-endian. A piece inside a word begins with ##.
"""

import array
import json
import pathlib
import struct
import sys

source = pathlib.Path(sys.argv[1])
weights = (source / "model.safetensors").read_bytes()
(length,) = struct.unpack_from("<Q", weights)
((_, tensor),) = [it for it in json.loads(weights[8 : 8 + length]).items() if it[0] != "__metadata__"]
rows, columns = tensor["shape"]
begin, end = tensor["data_offsets"]
values = array.array("f", weights[8 + length + begin : 8 + length + end])

vocabulary = json.loads((source / "tokenizer.json").read_text())["model"]["vocab"]
pieces = sorted(
    (piece.encode(), row) for piece, row in vocabulary.items() if not piece.startswith("[")
)

heads, table, text = bytearray(), bytearray(), bytearray()
for piece, row in pieces:
    vector = values[row * columns : (row + 1) * columns]
    scale = max(map(abs, vector)) / 127 or 1.0
    text += piece
    heads += struct.pack("<IHf", len(text), row, scale)
    table += struct.pack(f"{columns}b", *(round(it / scale) for it in vector))
out = struct.pack("<II", len(pieces), columns) + heads + table + text
pathlib.Path(__file__).with_name("words.bin").write_bytes(out)
print(f"{len(pieces)} pieces, {columns} columns, {len(out)} bytes")
