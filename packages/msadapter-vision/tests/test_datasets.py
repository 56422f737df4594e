"""The data sets, on small files made here; downloads go to a server on this machine."""

import gzip
import hashlib
import http.server
import io
import pickle
import struct
import tarfile
import threading
import zipfile

import numpy as np
import pytest
from PIL import Image

import msadapter.pytorch as torch
from msadapter.torchvision import datasets, transforms
from msadapter.torchvision.datasets import utils
from msadapter.torchvision.datasets.mnist import read_sn3_pascalvincent_tensor


def md5(content):
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


# --- data sets --------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_cifar(tmp_path):
    """A CIFAR10 of two training pictures and one for testing, with the MD5s of its files."""
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    rng = np.random.RandomState(0)

    def write(name, content):
        (folder / name).write_bytes(pickle.dumps(content, protocol=2))
        return [name, md5((folder / name).read_bytes())]

    def batch(name, labels):
        return write(name, {"data": rng.randint(0, 256, (len(labels), 3072), np.uint8), "labels": labels})

    class Small(datasets.CIFAR10):
        train_list = [batch("data_batch_1", [3]), batch("data_batch_2", [1])]
        test_list = [batch("test_batch", [2])]
        meta = {"filename": "batches.meta", "key": "label_names"}

    Small.meta["md5"] = write("batches.meta", {"label_names": ["plane", "car", "bird", "cat"]})[1]
    return Small


def test_cifar(small_cifar, tmp_path):
    train = small_cifar(tmp_path, transform=transforms.ToTensor(), target_transform=str)
    assert len(train) == 2 and train.data.shape == (2, 32, 32, 3)
    picture, target = train[1]
    assert picture.shape == (3, 32, 32) and target == "1"
    stored = pickle.loads((tmp_path / "cifar-10-batches-py" / "data_batch_2").read_bytes())["data"]
    assert (picture.numpy().ravel() * 255).round().tolist() == stored[0].tolist()
    assert train.class_to_idx == {"plane": 0, "car": 1, "bird": 2, "cat": 3}
    test = small_cifar(str(tmp_path), train=False)
    assert test.targets == [2] and test[0][0].size == (32, 32)
    assert (
        repr(test)
        == f"Dataset Small\n    Number of datapoints: 1\n    Root location: {tmp_path}\n    Split: Test"
    )


def test_damaged_or_missing_cifar_says_which_folder(small_cifar, tmp_path):
    path = tmp_path / "cifar-10-batches-py" / "test_batch"
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(RuntimeError, match="Dataset not found or corrupted.*cifar-10-batches-py"):
        small_cifar(tmp_path)


def test_a_pickle_that_runs_code_is_refused(small_cifar, tmp_path):
    class Evil:
        def __reduce__(self):
            return print, ("executed",)

    path = tmp_path / "cifar-10-batches-py" / "test_batch"
    path.write_bytes(pickle.dumps(Evil(), protocol=2))
    small_cifar.test_list = [["test_batch", None]]
    with pytest.raises(pickle.UnpicklingError, match="does not need .*print"):
        small_cifar(tmp_path, train=False)


def idx(array):
    codes = {"uint8": 8, "int16": 11, "float32": 13}
    head = struct.pack(f">HBB{array.ndim}i", 0, codes[array.dtype.name], array.ndim, *array.shape)
    return head + array.astype(array.dtype.newbyteorder(">")).tobytes()


PICTURES = np.arange(2 * 28 * 28).reshape(2, 28, 28).astype(np.uint8)


def test_mnist(tmp_path):
    raw = tmp_path / "FashionMNIST" / "raw"
    raw.mkdir(parents=True)
    with pytest.raises(RuntimeError, match="Dataset not found.*should hold train-images-idx3-ubyte"):
        datasets.FashionMNIST(tmp_path)
    for part in ("train", "t10k"):
        (raw / f"{part}-images-idx3-ubyte").write_bytes(idx(PICTURES))
        (raw / f"{part}-labels-idx1-ubyte").write_bytes(idx(np.array([7, 1], np.uint8)))
    dataset = datasets.FashionMNIST(tmp_path, train=False)
    picture, label = dataset[0]
    assert picture.mode == "L" and (np.asarray(picture) == PICTURES[0]).all() and label == 7
    assert dataset.targets.dtype == torch.int64 and dataset.class_to_idx["Trouser"] == 1


def test_files_of_mnists_format(tmp_path):
    path = tmp_path / "values"
    path.write_bytes(idx(np.array([[1.5, -2.0]], np.float32)))
    assert read_sn3_pascalvincent_tensor(path).tolist() == [[1.5, -2.0]]
    path.write_bytes(idx(np.array([1, 300], np.int16))[:-2])
    with pytest.raises(ValueError, match=r"should hold \[2\] values, and holds 1"):
        read_sn3_pascalvincent_tensor(path)
    path.write_bytes(b"PNG?")
    with pytest.raises(ValueError, match="begins with 504e473f"):
        read_sn3_pascalvincent_tensor(path)


def test_fake_data_is_the_same_each_time_and_leaves_the_generator_alone():
    dataset = datasets.FakeData(size=2, image_size=(1, 2, 2))
    torch.manual_seed(5)
    expected = torch.rand(1).item()
    torch.manual_seed(5)
    first = dataset[1]
    assert torch.rand(1).item() == expected
    assert np.array(first[0]).tolist() == np.array(dataset[1][0]).tolist() and first[1] == dataset[1][1]
    with pytest.raises(IndexError, match="FakeData index out of range"):
        dataset[2]
    assert repr(datasets.FakeData(size=3, transform=transforms.Compose([transforms.ToTensor()]))) == (
        "Dataset FakeData\n    Number of datapoints: 3\n    StandardTransform\n"
        "Transform: Compose(\n               ToTensor()\n           )"
    )


def test_image_folder(tmp_path):
    for name, colour in (("dog/b.PNG", (1, 2, 3)), ("dog/deep/a.png", (4, 5, 6)), ("ant/c.png", (7, 8, 9))):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (1, 1), colour).save(path, format="png")
    (tmp_path / "dog" / "notes.txt").touch()
    dataset = datasets.ImageFolder(tmp_path)
    assert dataset.classes == ["ant", "dog"] and dataset.targets == [0, 1, 1]
    assert [dataset[i][0].getpixel((0, 0)) for i in range(3)] == [(7, 8, 9), (1, 2, 3), (4, 5, 6)]
    only = datasets.ImageFolder(tmp_path, is_valid_file=lambda path: path.endswith("txt"), allow_empty=True)
    assert [path.rsplit("/", 1)[1] for path, _ in only.samples] == ["notes.txt"]


def test_folders_without_pictures(tmp_path):
    with pytest.raises(FileNotFoundError, match="Couldn't find any class folder"):
        datasets.ImageFolder(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        FileNotFoundError, match="no valid file for the classes empty. Supported extensions are: .jpg"
    ):
        datasets.ImageFolder(tmp_path)
    with pytest.raises(ValueError, match="at least one entry"):
        datasets.folder.make_dataset(tmp_path, {}, extensions=".png")
    with pytest.raises(ValueError, match="cannot be None or not None at the same time"):
        datasets.folder.make_dataset(tmp_path)


def test_transforms_are_given_once():
    with pytest.raises(ValueError, match="Only transforms or transform/target_transform"):
        datasets.VisionDataset("x", transforms=min, transform=abs)


# --- downloading ------------------------------------------------------------------------------------------------------

CONTENT = bytes(range(256)) * 40


class Server(http.server.BaseHTTPRequestHandler):
    """Serves CONTENT, by ranges too, and keeps the requests."""

    def do_GET(self):
        self.server.ranges.append(self.headers.get("Range"))
        start = int((self.headers.get("Range") or "bytes=0-")[6:-1])
        if start >= len(CONTENT):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(CONTENT) - start))
        self.end_headers()
        self.wfile.write(CONTENT[start:])

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as running:
        running.ranges = []
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        running.url = f"http://127.0.0.1:{running.server_address[1]}/some/file.bin"
        yield running
        running.shutdown()
        thread.join()


def test_download_once(server, tmp_path):
    for _ in range(2):
        utils.download_url(server.url, tmp_path, md5=md5(CONTENT))
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert server.ranges == [None]


@pytest.mark.parametrize("there", [5000, len(CONTENT)])
def test_download_goes_on_where_it_stopped(server, tmp_path, there):
    (tmp_path / "file.bin.part").write_bytes(CONTENT[:there])
    utils.download_url(server.url, tmp_path, md5=md5(CONTENT))
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert server.ranges == [f"bytes={there}-"]
    assert not (tmp_path / "file.bin.part").exists()


def test_a_damaged_download_is_thrown_away(server, tmp_path):
    with pytest.raises(RuntimeError, match="has not the MD5 0+. Put the file file.bin"):
        utils.download_url(server.url, tmp_path, md5="0" * 32)
    assert list(tmp_path.iterdir()) == []


def test_a_mirror_stands_in_by_host_and_path(server, tmp_path, monkeypatch):
    mirror = tmp_path / "mirror"
    (mirror / "example.org" / "data").mkdir(parents=True)
    (mirror / "example.org" / "data" / "x.bin").write_bytes(b"mirrored")
    monkeypatch.setenv(utils.MIRROR, str(mirror))
    utils.download_url("https://example.org/data/x.bin", tmp_path)
    assert (tmp_path / "x.bin").read_bytes() == b"mirrored"
    monkeypatch.setenv(utils.MIRROR, server.url.rsplit("/", 2)[0])
    utils.download_url("https://example.org/y.bin", tmp_path)
    assert (tmp_path / "y.bin").read_bytes() == CONTENT


def test_without_a_network_the_error_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv(utils.MIRROR, str(tmp_path / "nowhere"))
    with pytest.raises(RuntimeError) as caught:
        utils.download_url("https://example.org/data/x.bin", tmp_path, md5="1" * 32)
    assert "Could not download" in str(caught.value)
    assert f"Put the file x.bin (MD5 {'1' * 32}) into the folder {tmp_path} yourself" in str(caught.value)
    assert "set MSADAPTER_DATASET_MIRROR to a folder or address that holds example.org/data/x.bin" in str(
        caught.value
    )


def test_mnist_is_fetched_from_a_mirror_and_unpacked(tmp_path, monkeypatch):
    mirror = tmp_path / "mirror" / "example.org"
    mirror.mkdir(parents=True)

    class Small(datasets.MNIST):
        mirrors = ["https://gone.example.org/", "https://example.org/"]
        resources = []

    for part in ("train", "t10k"):
        for kind, content in (("images-idx3", PICTURES), ("labels-idx1", np.array([7, 1], np.uint8))):
            packed = gzip.compress(idx(content))
            (mirror / f"{part}-{kind}-ubyte.gz").write_bytes(packed)
            Small.resources.append((f"{part}-{kind}-ubyte.gz", md5(packed)))
    monkeypatch.setenv(utils.MIRROR, str(tmp_path / "mirror"))
    dataset = Small(tmp_path, download=True)
    assert len(dataset) == 2 and dataset[1][1] == 1


# --- unpacking --------------------------------------------------------------------------------------------------------


def test_archives(tmp_path):
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as tar:
        info = tarfile.TarInfo("d/x.txt")
        info.size = 2
        tar.addfile(info, io.BytesIO(b"ab"))
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("y.txt", "cd")
    (tmp_path / "z.txt.gz").write_bytes(gzip.compress(b"ef"))
    for name, inside in (("a.tgz", "d/x.txt"), ("b.zip", "y.txt"), ("z.txt.gz", "z.txt")):
        utils.extract_archive(tmp_path / name, tmp_path / "out", remove_finished=True)
        assert (tmp_path / "out" / inside).is_file() and not (tmp_path / name).exists()
    with pytest.raises(RuntimeError, match="Unknown compression or archive type: '.rar'"):
        utils.extract_archive("x.rar")
    with pytest.raises(RuntimeError, match="has no suffixes"):
        utils.extract_archive("x")


@pytest.mark.parametrize("name", ["../out.txt", "/tmp/out.txt"])
def test_an_archive_does_not_write_outside(tmp_path, name):
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo(name), io.BytesIO())
    home = tmp_path / "home"
    try:
        utils.extract_archive(tmp_path / "a.tar", home)
    except (tarfile.TarError, RuntimeError):
        pass
    assert not (tmp_path / "out.txt").exists()
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr(name, "x")
    utils.extract_archive(tmp_path / "b.zip", home)
    assert not (tmp_path / "out.txt").exists()


def test_checked_strings():
    assert utils.verify_str_arg("a", "split", ("a", "b")) == "a"
    with pytest.raises(
        ValueError, match="Unknown value 'c' for argument split. Valid values are {'a', 'b'}."
    ):
        utils.verify_str_arg("c", "split", ("a", "b"))
    with pytest.raises(ValueError, match="Expected type str for argument split, but got type <class 'int'>."):
        utils.verify_str_arg(1, "split")
