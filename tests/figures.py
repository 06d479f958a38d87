"""What tests of figures share."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def assert_labels_are_inside(figure: "Figure") -> None:
    """Draw the figure, and assert that it cuts off no label of an axis and no legend."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    width, height = figure.bbox.size
    for part in [*figure.axes, *figure.legends]:
        box = part.get_tightbbox(canvas.get_renderer())
        assert box.x0 >= -1, part
        assert box.y0 >= -1, part
        assert box.x1 <= width + 1, part
        assert box.y1 <= height + 1, part
