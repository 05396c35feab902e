"""What is refused before a model is loaded: too few images, a wrong device or dtype, a cluster that cannot score."""

import importlib.util

import pytest

LOADED = """
def __init__(self):
    open("loaded", "w").close()

def match(self, pairs):
    return np.array([-float(len(pair.text)) for pair in pairs])
"""


@pytest.fixture
def model(place):
    return place.model(LOADED)


def test_a_run_with_few_images_is_refused_before_the_model_is_loaded(place, model, workers):
    place.valse(n=40, images=False)
    place.image("vg/100.jpg")
    result = place.run(model, *workers, ret=4, error="ERROR: 2 of 40 cases have their image: *--missing-images skip*")
    result.stderr.fnmatch_lines(["*valse/existence: 2 of 40 cases have their image"])
    assert not (place.path / "loaded").exists()


def test_with_skip_the_cases_with_images_are_judged(place, model):
    place.valse(n=40, images=False)
    place.image("vg/100.jpg")
    place.run(f"{model}", "--missing-images=skip", "--health=off")
    assert (place.path / "loaded").exists()


@pytest.mark.parametrize("name", ["oracle", "blind", "constant", "random"])
def test_a_reference_model_needs_no_images(place, name):
    place.valse(n=40, images=False)
    assert place.run(f"--model={name}", "--health=off").ret in {0, 1}
    assert place.task()["judged"] == 40


def test_a_list_of_the_tests_needs_no_images(place, model):
    place.valse(n=40, images=False)
    assert place.run(model, "--collect-only").ret == 0


@pytest.mark.parametrize("named", ["bag-of-words", "oracle", "my_model:build"])
@pytest.mark.parametrize(
    ("option", "expected"),
    [("--dtype=flot32", "*float32*float16*bfloat16*"), ("--device=cud", "*auto, cpu, cuda, cuda:N*mps*cuda*")],
)
@pytest.mark.usefixtures("model")
def test_every_model_refuses_an_unknown_device_or_dtype(place, named, option, expected):
    place.valse(n=4)
    place.run(f"--model={named}", option, ret=4, error=f"ERROR: {option[2:].split('=')[0]}={expected}")
    assert not (place.path / "loaded").exists()


@pytest.mark.parametrize("named", ["my_model", "my_model.py"])
@pytest.mark.usefixtures("model")
def test_a_module_without_a_callable_is_told_how_to_write_it(place, named):
    place.valse(n=4)
    result = place.run(f"--model={named}", ret=4, error="*did you mean 'my_model:build'?")
    assert "bag-of-words" not in result.stderr.str()


def test_a_folder_within_the_data_folder_leads_to_its_parent(place, model):
    file = place.valse(n=4)
    place.run(model, f"--data={file.parent}", data=False, ret=4, error=f"*did you mean --data {place.path / 'data'}?")


REFUSED = [
    (
        ("--ray=auto", "-n", "2"),
        "--ray=auto with -n 2: the actors of the cluster score in place of workers; leave -n 2 out",
    ),
    (("--ray=auto", "--model=oracle"), "the model 'oracle' computes nothing that needs a cluster; leave --ray out"),
    (("--ray=auto", "--device=cuda:1"), "Ray chooses the GPU of each actor; expected auto, cpu or cuda"),
]
if importlib.util.find_spec("ray") is None:
    REFUSED += [(("--ray=auto",), "needs Ray, which is not installed; pip install 'vlgate[[]ray]'")]
else:
    REFUSED += [(("--ray=127.0.0.1:1",), "no cluster answers at 127.0.0.1:1 *; start one with ray start --head*")]


@pytest.mark.parametrize(("given", "says"), REFUSED, ids=lambda value: value[-1] if isinstance(value, tuple) else "")
def test_what_a_cluster_cannot_score_is_refused(place, right, given, says):
    place.valse(n=4)
    model = () if any(one.startswith("--model") for one in given) else (right,)
    result = place.run(*model, *given, ret=4)
    lines = [line for line in result.errlines if line.strip()]
    assert len(lines) <= 2
    result.stderr.fnmatch_lines([f"ERROR: *{says}*"])
    assert not (place.path / "out" / "metrics.json").exists()
