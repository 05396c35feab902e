"""Facts of the curated ontology that wrong senses would break: what things are, may be called, and have."""

from __future__ import annotations

import pytest

from vlgate.perturb.ontology import default_ontology

ONTOLOGY = default_ontology()


@pytest.mark.parametrize(
    ("name", "above"),
    [
        ("duck", "bird|animal"),
        ("ducks", "birds|animals"),
        ("top hat", "hat|clothing"),
        ("apple", "fruit|food"),
        ("orange", "citrus|fruit|food"),
        ("strawberries", "berries|fruits|food"),
        ("car", "vehicle"),
        ("school bus", "bus|vehicle"),
        ("airplane", "aircraft|vehicle"),
        ("woman", "person"),
        ("women", "people"),
        ("tennis player", "player|person"),
        ("jeans", "pants|clothing"),
        ("t-shirt", "shirt|clothing"),
        ("bee", "insect|animal"),
        ("spider", "animal"),
        ("poodle", "dog|animal"),
        ("kitten", "cat|animal"),
        ("office chair", "chair|furniture|seat"),
        ("sofa", "furniture|seat"),
        ("bench", "seat"),
        ("microwave", "appliance"),
        ("laptop", "computer"),
        ("coffee cup", "cup|container"),
        ("vases", "containers"),
        ("broccoli", "vegetable"),
        ("cheeseburger", "hamburger"),
        ("cake", "baked good"),
        ("bread", "baked good"),
        ("bacon", "meat|food"),
        ("mozzarella", "cheese|food"),
        ("red wine", "wine|alcohol|drink"),
        ("palm tree", "tree|plant"),
        ("rose", "flower|plant"),
        ("church", "building"),
        ("kitchen", "room"),
        ("clock tower", "tower"),
        ("street", "road"),
        ("stop sign", "traffic sign|sign"),
        ("fork", "utensil"),
        ("scissors", "tools"),
        ("teddy bear", "toy"),
        ("soccer ball", "ball"),
        ("surfboard", "sports equipment"),
        ("guitar", "musical instrument"),
        ("rifle", "weapon"),
        ("backpack", "bag"),
        ("suitcase", "luggage"),
        ("earring", "jewelry"),
        ("sneakers", "shoes|footwear"),
        ("ear", "body part"),
        ("painting", "artwork"),
        ("chandelier", "light fixture"),
        ("bicycle", "bike|vehicle"),
        ("motorcycle", "bike|vehicle"),
    ],
)
def test_what_every_thing_of_a_name_is(name, above):
    assert set(above.split("|")) <= set(ONTOLOGY.hypernyms(name))


@pytest.mark.parametrize(
    ("name", "above"),
    [
        ("school bus", ("bus", "vehicle")),
        ("ducks", ("birds", "animals")),
        ("orange", ("citrus", "fruit", "food")),
        ("tennis player", ("player", "person")),
        ("coffee", ("drink", "beverage")),
    ],
)
def test_the_nearest_comes_first(name, above):
    assert ONTOLOGY.hypernyms(name) == above


@pytest.mark.parametrize(
    ("name", "not_certain", "possible"),
    [
        ("bat", "animal", "baseball bat"),
        ("mouse", "animal", "computer mouse"),
        ("crane", "bird", "machine"),
        ("glass", "container", "cup"),
        ("glasses", "eyewear", "sunglasses"),
        ("bear", "animal", "teddy bear"),
        ("fish", "animal", "food"),
        ("chicken", "meat", "bird"),
        ("nut", "food", "tool"),
        ("plate", "dish", "license plate"),
        ("tomato", "vegetable", "fruit"),
        ("keyboard", "electronic device", "piano"),
        ("tank", "container", "tank top"),
        ("coach", "person", "bus"),
        ("fan", "appliance", "spectator"),
        ("pitcher", "person", "container"),
        ("palm", "tree", "hand"),
        ("kite", "bird", "toy"),
        ("trunk", "container", "tree"),
        ("bike", "bicycle", "motorcycle"),
        ("store", "building", "building"),
        ("knife", "utensil", "weapon"),
        ("hand", "body part", "clock hand"),
        ("water", "drink", "ocean"),
        ("tie", "jewelry", "bow tie"),
        ("boy", "man", "man"),
        ("girl", "woman", "child"),
        ("dish", "food", "food"),
        ("mushroom", "food", "vegetable"),
        ("helmet", "hat", "hat"),
    ],
)
def test_names_of_several_senses(name, not_certain, possible):
    assert not_certain not in ONTOLOGY.certain(name)
    assert possible in ONTOLOGY.possible(name)


@pytest.mark.parametrize(
    "names",
    [
        "cup mug glass",
        "couch sofa loveseat",
        "road street pavement highway",
        "tree bush leaves",
        "hill mountain",
        "photo picture painting",
        "bag purse backpack",
        "boat ship",
        "grass field yard",
        "water ocean river lake",
        "sign billboard",
        "shirt blouse sweater jersey",
        "pants jeans trousers",
        "man player surfer skier",
        "woman girl lady",
        "television monitor screen",
        "plant flower leaf",
        "cow bull cattle",
        "pizza food lunch",
        "dogs dog puppy",
    ],
)
def test_names_of_the_same_things(names):
    for name in names.split():
        assert set(names.split()) <= ONTOLOGY.possible(name)


@pytest.mark.parametrize(
    ("name", "false"),
    [
        ("man", "woman girl elephant chair"),
        ("woman", "man boy dog"),
        ("boy", "girl woman lady"),
        ("dog", "zebra elephant bird car"),
        ("zebra", "giraffe elephant lion"),
        ("car", "train boat airplane bicycle"),
        ("apple", "banana pizza broccoli"),
        ("pizza", "hamburger cake apple"),
        ("table", "couch refrigerator bed"),
        ("boat", "car airplane bus"),
        ("phone", "refrigerator stove bear"),
        ("tree", "car person cup"),
        ("clock", "plate cup chair"),
        ("umbrella", "hat kite car"),
        ("chair", "lamp bookshelf dresser"),
    ],
)
def test_what_stays_false(name, false):
    known = ONTOLOGY.possible(name) | ONTOLOGY.parts(name)
    assert not known & set(false.split(" "))


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("car", "tire wheels window headlight windshield door bumper mirror"),
        ("taxi", "tire wheels window driver"),
        ("man", "head hair hand arms leg eye nose shirt pants shoes clothing finger"),
        ("skier", "head jacket hat"),
        ("houses", "window doors roof wall chimney"),
        ("oak tree", "leaves branch trunk"),
        ("kitchen", "stove sink refrigerator wall floor"),
        ("train", "window door wheel"),
        ("airplane", "wing tail engine cockpit window"),
        ("cow", "hoof tail ear leg head"),
        ("animal", "beak paw trunk"),
        ("pizza", "cheese crust pepperoni"),
        ("wheel", "car bike tire"),
        ("hand", "person man woman arm shirt"),
        ("leaf", "tree"),
        ("shirt", "person collar"),
    ],
)
def test_what_may_be_there_unannotated(name, parts):
    assert set(parts.split()) <= ONTOLOGY.parts(name)
