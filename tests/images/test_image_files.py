"""Image files: missing, broken, cut off, too large, or decoded when they are loaded."""

import os
import pickle
import struct
import sys
import threading
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from encoded_images import PHOTO, encoded, rotated
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageFile

from vlgate.errors import ImageError, MissingImageError
from vlgate.images.decoding import MAX_PIXELS, decode_stream, formats
from vlgate.images.files import decode, file_image, image_size, missing_image


def problem(path):
    with pytest.raises(ImageError) as caught:
        decode(path, "v7w_1.jpg")
    assert caught.value.key == "v7w_1.jpg"
    assert "'v7w_1.jpg'" in str(caught.value)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_missing_file_and_one_below_a_file(tmp_path):
    with pytest.raises(MissingImageError, match=r"a\.jpg.*--missing-images skip"):
        decode(tmp_path / "a.jpg", "key")
    (tmp_path / "a.jpg").write_bytes(b"x")
    with pytest.raises(MissingImageError):
        decode(tmp_path / "a.jpg" / "b.jpg", "key")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Path.touch, "is empty"),
        (Path.mkdir, "is a folder"),
        (os.mkfifo, "is not a regular file"),  # reading it would wait for ever
        (lambda path: path.symlink_to(path), "cannot be opened"),
        (lambda path: path.write_text("<!DOCTYPE html><title>404</title>"), "begins with b'<!DOCTYPE html>"),
        (lambda path: path.write_text("%!PS-Adobe-3.0 EPSF-3.0\n"), "is not a complete image in a known"),  # not run
        (lambda path: path.write_bytes(png_header(0, 5)), "is not a complete image"),
    ],
)
def test_what_is_no_image_is_named(tmp_path, make, message):
    make(tmp_path / "a.jpg")
    assert message in problem(tmp_path / "a.jpg")
    with pytest.raises(ImageError, match=r"image 'key': .*a\\x00\.jpg"):
        decode(f"{tmp_path}/a\0.jpg", "key")


@pytest.fixture
def without_plugins(monkeypatch):
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    monkeypatch.setattr(pytest.importorskip("PIL.AvifImagePlugin"), "SUPPORTED", False)
    formats.cache_clear()
    yield
    formats.cache_clear()


CONVERT = "convert it to PNG or JPEG"


@pytest.mark.parametrize(
    ("content", "kind", "remedy"),
    [
        (b"\0\0\0\x20ftypavif\0\0\0\0avifmif1", "an AVIF image", f"{CONVERT}, or pip install 'pillow>=11.3'"),
        (b"\0\0\0\x20ftypavis\0\0\0\0", "an AVIF image", CONVERT),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "a HEIC image", f"{CONVERT}, or pip install pillow-heif"),
        *((b"\0\0\0\x18ftyp" + code + b"\0\0\0\0", "a HEIC image", CONVERT) for code in (b"heix", b"mif1")),
        *((code, "a JPEG XL image", CONVERT) for code in (b"\xff\x0a\xfa\x1f\x01", b"\0\0\0\x0cJXL \r\n\x87\n")),
        (b"\0\0\0\x0cjP  \r\n\x87\n", "a JPEG 2000 image", CONVERT),
        (b"%PDF-1.7", "a PDF document", CONVERT),
        (b"8BPS\0\1", "a Photoshop image", CONVERT),
        (b"%!PS-Adobe-3.0 EPSF-3.0", "a PostScript image", CONVERT),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "an SVG drawing", CONVERT),
        (b"<?xml version='1.0'?>\n<!-- made -->\n<svg/>", "an SVG drawing", CONVERT),
        (b"\n<!DOCTYPE html><title>404</title>", "a web page", "download the image that it shows"),
        (b"<HTML><head>", "a web page", "download the image that it shows"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "a pointer of Git LFS", "git lfs pull"),
    ],
)
@pytest.mark.usefixtures("without_plugins")
def test_a_file_of_another_kind_says_what_to_do(tmp_path, content, kind, remedy):
    (tmp_path / "a.jpg").write_bytes(content)
    message = problem(tmp_path / "a.jpg")
    assert f", but {kind}" in message
    assert remedy in message.rpartition("; ")[2]


@pytest.mark.skipif("AVIF" not in formats(), reason="this Pillow has no AVIF")
@pytest.mark.parametrize("name", ["a.avif", "a.jpg"])
def test_avif(tmp_path, name):
    (tmp_path / name).write_bytes(encoded(PHOTO, "AVIF", quality=100, exif=rotated(6)))
    image = decode(tmp_path / name, "key")
    assert (image.mode, image.size) == ("RGB", PHOTO.size[::-1])
    upright = np.asarray(PHOTO.transpose(Image.Transpose.ROTATE_270), float)
    assert abs(np.asarray(image, float) - upright).mean() < 8
    assert image_size(tmp_path / name) == image.size
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:200])
    assert "replace the file" in problem(tmp_path / name).replace("v7w_1.jpg", "")


def test_heic(tmp_path):
    heif = pytest.importorskip("pillow_heif")
    formats.cache_clear()
    formats()
    for name, exif in (("a.heic", rotated(1)), ("b.jpg", rotated(6))):
        heif.from_pillow(PHOTO).save(tmp_path / name, quality=-1, exif=exif.tobytes())
        image = decode(tmp_path / name, "key")
        shown = PHOTO if name == "a.heic" else PHOTO.transpose(Image.Transpose.ROTATE_270)
        assert (image.mode, image.size) == ("RGB", shown.size)
        assert abs(np.asarray(image, float) - np.asarray(shown, float)).mean() < 8


@pytest.mark.parametrize(
    ("method", "error", "message"),
    [
        ("pathlib.Path.open", PermissionError(13, "Permission denied"), "give read permission"),
        ("pathlib.Path.stat", PermissionError(13, "Permission denied"), "give read permission"),
        ("pathlib.Path.open", OSError(5, "Input/output error"), "cannot be read ([Errno 5] Input/output error)"),
        ("PIL.ImageFile.ImageFile.load", MemoryError(), "more memory than"),
    ],
)
def test_a_failure_of_the_system_is_named(tmp_path, monkeypatch, method, error, message):
    (tmp_path / "a.png").write_bytes(encoded(PHOTO, "PNG"))

    def fail(*_args, **_options):
        raise error

    monkeypatch.setattr(method, fail)
    assert message in problem(tmp_path / "a.png")


@pytest.mark.parametrize("content", [b"", b"no image", encoded(PHOTO, "PNG")[:-40], encoded(PHOTO, "JPEG")[:-200]])
def test_a_stream_is_decoded_as_a_file_is_and_named_without_a_complete_image(content, decoded):
    image = decode_stream(BytesIO(encoded(PHOTO, "PNG")), "images.zip/a.png", "a")
    assert image.tobytes() == decoded(encoded(PHOTO, "PNG")).tobytes()
    with pytest.raises(ImageError, match=r"image 'a': images\.zip/a\.png "):
        decode_stream(BytesIO(content), "images.zip/a.png", "a")


FILES = {
    "jpeg": encoded(PHOTO, "JPEG"),
    "progressive": encoded(PHOTO, "JPEG", progressive=True),
    "cmyk": encoded(PHOTO.convert("CMYK"), "JPEG"),
    "mpo": encoded(PHOTO, "MPO", save_all=True, append_images=[PHOTO.rotate(90)]),
    "png": encoded(PHOTO, "PNG"),
    "apng": encoded(PHOTO, "PNG", save_all=True, append_images=[PHOTO.rotate(180)]),
    "gif": encoded(PHOTO, "GIF"),
    "webp": encoded(PHOTO, "WEBP"),
    "bmp": encoded(PHOTO, "BMP"),
    "tiff": encoded(PHOTO, "TIFF"),
}


@pytest.mark.parametrize("form", FILES)
def test_a_cut_off_file_is_an_error_or_complete_but_never_half_an_image(form, decoded):
    whole = decoded(FILES[form]).tobytes()
    size, errors = len(FILES[form]), 0
    lengths = {*range(0, size, 1 + size // 100), *range(size - 20, size)}
    for length in lengths:
        try:
            assert decoded(FILES[form][:length]).tobytes() == whole
        except ImageError:
            errors += 1
    assert errors > len(lengths) * 0.3  # the first frame of an animation or MPO may be complete


@pytest.mark.parametrize("form", ["jpeg", "progressive", "cmyk", "mpo"])
def test_a_jpeg_that_ends_in_zeros_is_never_half_grey(form, decoded):
    content = FILES[form]
    whole = decoded(content).tobytes()
    for length in range(0, len(content), 11):
        try:
            assert decoded(content[:length] + bytes(len(content) - length)).tobytes() == whole
        except ImageError:
            continue


def test_a_jpeg_may_have_something_after_its_end_and_the_end_of_a_thumbnail_is_not_the_end(decoded):
    assert decoded(FILES["jpeg"] + b"\xff\xda trailer").tobytes() == decoded(FILES["jpeg"]).tobytes()
    thumbnail = b"\xff\xe1" + struct.pack(">H", 2 + len(FILES["jpeg"])) + FILES["jpeg"]
    content = FILES["jpeg"][:2] + thumbnail + FILES["jpeg"][2:]
    assert decoded(content).size == PHOTO.size
    with pytest.raises(ImageError, match=r"image 'key': .*a\.jpg .*cut off"):
        decoded(content[:-60] + bytes(60))


@given(st.sampled_from(sorted(FILES)), st.data())
def test_altered_bytes_give_an_image_or_an_image_error(tmp_path_factory, form, data):
    content = bytearray(FILES[form])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "altered"
    path.write_bytes(content)
    try:
        image = decode(path, "key")
    except ImageError:
        return
    assert (image.mode, min(image.size) >= 1) == ("RGB", True)


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def test_pils_warnings_about_metadata_are_not_passed_on(decoded):
    content = FILES["png"][:33] + chunk(b"acTL", bytes(8)) + FILES["png"][33:]  # an animation without frames
    with pytest.warns(UserWarning, match="Invalid APNG"), Image.open(BytesIO(content)):
        pass
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert decoded(content).tobytes() == PHOTO.tobytes()
    assert seen == []


def png_header(width, height):
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("side", [60_000, 10_000])  # PIL raises an error for the first, and only warns for the second
@pytest.mark.parametrize("action", ["error", "default", "ignore"])
def test_a_huge_claim_is_refused_by_its_header(side, action, tmp_path, monkeypatch):
    (tmp_path / "a.png").write_bytes(png_header(side, side))
    monkeypatch.setattr(ImageFile.ImageFile, "load", lambda _: pytest.fail("took memory"))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter(action)
        assert f"at most {MAX_PIXELS:,} pixels" in problem(tmp_path / "a.png")
    assert seen == []
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)  # the limit holds if Pillow has none
    assert f"{side:,} x {side:,}" in problem(tmp_path / "a.png")


def test_what_another_thread_does_to_the_filters_meanwhile_stays(decoded, monkeypatch):
    plain = Image.open

    def opened(*args, **kwargs):
        warnings.filterwarnings("error", message="of the other thread")
        return plain(*args, **kwargs)

    monkeypatch.setattr(Image, "open", opened)
    with warnings.catch_warnings():
        before = len(warnings.filters)
        decoded(FILES["jpeg"])
        assert len(warnings.filters) == before + 1
        assert warnings.filters[0][0] == "error"


@pytest.mark.parametrize("form", FILES)
def test_the_name_need_not_fit_the_format_and_pils_settings_stay(form, decoded):
    before = (Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES, warnings.filters[:])
    assert decoded(FILES[form], "photo.dat").size == PHOTO.size
    assert before == (Image.MAX_IMAGE_PIXELS, False, warnings.filters[:])


def test_many_threads_leave_the_warning_filters_as_they_were(tmp_path):
    (tmp_path / "a.jpg").write_bytes(encoded(PHOTO, "JPEG", exif=rotated(6)))
    before = warnings.filters[:]
    start = threading.Barrier(8)

    def task(_):
        start.wait()
        return {decode(tmp_path / "a.jpg", "key").size for _ in range(30)}

    with ThreadPoolExecutor(8) as pool:
        assert set.union(*pool.map(task, range(8))) == {(32, 40)}
    assert warnings.filters == before


def test_file_image_is_lazy_and_travels(tmp_path):
    image = file_image("key", tmp_path / "a.png")
    (tmp_path / "a.png").write_bytes(FILES["png"])
    copy = pickle.loads(pickle.dumps(image))
    assert (copy, copy.where) == (image, str(tmp_path / "a.png"))
    assert copy.load().tobytes() == PHOTO.tobytes()


def test_missing_image_names_the_places_and_the_remedy(tmp_path):
    image = pickle.loads(pickle.dumps(missing_image("v7w_1.jpg", [tmp_path / "vg", tmp_path / "visual7w"])))
    with pytest.raises(MissingImageError) as caught:
        image.load()
    assert caught.value.key == "v7w_1.jpg"
    for part in (str(tmp_path / "vg"), str(tmp_path / "visual7w"), "put it there", "--missing-images skip"):
        assert part in str(caught.value)
    with pytest.raises(MissingImageError, match="no data folder was given"):
        missing_image("a.jpg", []).load()


def test_missing_images_share_the_places_where_they_were_looked_for():
    images = [missing_image(f"{number}.jpg", [f"/data/{number}.jpg", Path("/more")]) for number in range(3)]
    assert len({id(image.load.looked) for image in images}) == 1
    for number, image in enumerate(images):
        with pytest.raises(MissingImageError, match=f"looked in /data/{number}.jpg, /more") as caught:
            image.load()
        assert list(map(str, caught.value.looked)) == [f"/data/{number}.jpg", "/more"]
