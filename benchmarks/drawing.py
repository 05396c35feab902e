"""The speed of making and drawing scenes of 400 x 300 pixels: scenes per second, and a ratio to decoding the same."""

from __future__ import annotations

from io import BytesIO
from time import process_time

from PIL import Image
from run_all import Row

from vlgate.fixtures.scenes.draw import draw
from vlgate.fixtures.scenes.scene_graphs import as_gqa, world_graphs

SCENES = 600
BAR = 200


def main() -> None:
    """Draw scenes that were not drawn before, and decode them from PNG, in processor time of one core."""
    for graph in world_graphs(1, SCENES // 4):
        draw(as_gqa(graph))
    begin = process_time()
    graphs = [as_gqa(graph) for graph in world_graphs(0, SCENES)]
    made_graphs = process_time()
    images = [draw(graph) for graph in graphs]
    drawn = process_time()
    files = [as_png(image) for image in images]
    saved = process_time()
    for file in files:
        Image.open(BytesIO(file)).load()
    making, drawing, decoding = made_graphs - begin, drawn - made_graphs, process_time() - saved
    print(f"drawing: graphs: {SCENES / making:.0f} a second")
    print(f"drawing: images: {SCENES / drawing:.0f} a second, bar {BAR}; {drawing / decoding:.2f} x decoding a PNG")
    print(Row(what="drawing a scene against decoding it from a PNG, in time", ratio=drawing / decoding))
    print(Row(what=f"scenes drawn in a second against {BAR}", ratio=SCENES / drawing / BAR, bar=1))


def as_png(image: Image.Image) -> bytes:
    """Return an image as the bytes of a file."""
    file = BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


if __name__ == "__main__":
    main()
