"""Nouns whose number says little about what an image shows, by the reason."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_KINDS = {
    "the noun names a quantity or a group": """
        amount army array assembly assortment audience batch bit block bundle bunch chunk class cluster club collection
        column combination couple crew crowd deal display dozen family few flock formation gang group half handful heap
        herd host kind line load lot majority many mass mess mix mixture most number pack pair panel parade part party
        piece pile plenty population portion range rest row sample school section selection series set slew sort stack
        staff stream string team ton trio type variety web whole wedge mob pool procession force police swarm
        cavalry piles couples groups pairs sets rows lots bunches""",
    "the noun names a part or a side": """
        area back background base bottom center centre corner distance edge end expanse exterior face foot foreground
        front half inside interior layer left length middle midst outside outskirt place point position rear right
        section side space spot stretch surface tip top way width location direction midair level bottom degree angle
        spots reach""",
    "the noun names the picture": """
        art background closeup close depiction frame image illustration painting drawing photo photograph photography pic
        picture portrait print scene scenery screenshot shot snapshot view selfie perspective viewer camera collage panorama
        reflection silhouette shadow look painting landscape version""",
    "the noun names an event, a time or something abstract": """
        act action activity afternoon age air angle appearance attempt attention birthday bite break breakfast business care
        catch celebration ceremony change chance class color colour competition concept contest conversation course dance
        dark date day daylight daytime design dinner discussion display dive drink drive dusk effort evening event exercise
        experience expression fall feature feed fight fashion flight flip focus form fun game grab grind hang help hit hold
        holiday home hour idea jump kick kind landing leap leisure life lunch luncheon manner match meal meeting midday
        minute moment month morning motion move movement name nap need night noon number nap operation order pace party pass
        pattern performance picnic pitch play pose practice presentation process progress purpose race rain reason repair
        rest ride ring routine row run sail season serve service session shape show sight sign sitting size sleep slide
        smile snack snooze snowstorm sound speech speed spin sport stage stance stand start state step stop storm stretch
        stroll stunt style summer sun sunset sunrise swim swing take talk task test theme thing throw time tone touch tour
        traffic training transit travel trick trip turn use vacation variety visit volley wait walk war wash watch wave way
        weather wedding week weekend wheelie winter work year object item stuff something anything shade sunlight light
        construction preparation installation demonstration pursuit arrangement setting environment atmosphere weight
        display transport transportation manual backhand forehand ollie""",
    "more of it may be there than the caption tells": """
        bank beach blade bleacher board bough branch brick building bush cabinet cactus cart cement cloud coast cobblestone
        cord corridor counter countertop court crop curb dirt district fence fencing field floor flooring flower foliage
        forest garden grass grassland gravel ground hallway hay hill hillside hilltop house intersection island lamp land
        lane lawn leaf ledge light lot meadow mountain mountainside mud neighborhood ocean opening park pasture path
        pathway pavement person plain plant platform pole pond post puddle railing railway range ridge river road roadside
        roadway rock rope row sand savanna savannah sea shelf shelter shore shoreline shrub sidewalk sign sky slope snow
        square stair stand station step stone stream street structure swamp tarmac terrain terrace tile top town track
        trail tree trunk valley village wall water waterway wave weed window wire wood woodland yard zone body
        terrain runway walkway skyline desert city countryside jungle bridge building backdrop setting room wetland plane
        people spectator onlooker passenger bystander pedestrian audience viewer fan car vehicle dish book paper picture
        utensil food item object decoration toy""",
    "the noun may name a substance": """
        asparagus bacon beef beer bread broccoli butter cabbage cauliflower celery cereal cement chalk cheese chicken
        chocolate cilantro clay cloth clothing cloud coal coffee coleslaw concrete corn cotton cream crust dessert dressing
        drink equipment fabric fish food frosting fruit fur furniture garlic glass gold gravy gear graffiti grain gravel
        ham hair hay honey ice icing iron jam jelly juice ketchup lamb leather lettuce liquid luggage mail makeup marble
        mayonnaise meat metal milk money moss mud mustard oil onion paint pasta paper pepper pizza plastic pork powder
        produce protein rice rubber rust salad salmon salt sand sauce sausage seafood seasoning silver skin smoke soap soda
        soup spice spinach squash steak steam steel stew stone straw sugar sushi syrup tea tile tofu tuna turkey
        vegetation wine wire wood wool yarn yogurt zucchini cake pie brick carpet cardboard turf water trash garbage""",
    "the noun comes in pairs or has two halves": """
        antler arm ankle binocular boot bottom breast cheek clog curtain drape ear earphone earring elbow eye eyebrow eyeglass
        finger flipper foot glass glove goggle hand headphone heel hip hoof horn jean knee leg lip mitten nostril pajama
        pant paw sandal scissor shade shoe short shoulder skate ski slipper sneaker sock spectacle stand step stocking
        stair sunglass suspender thigh toe tongs trouser tusk wing wrist pole stilt crutch legging brake handlebar
        trunk short tooth track rail leaf feather hindleg paddle oar chopstick fry green ruin ground""",
}


def _by_noun() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for reason, words in _KINDS.items():
        for word in words.split():
            found.setdefault(word, reason)
    return MappingProxyType(found)


_REASONS = _by_noun()
_SUBSTANCES = frozenset(_KINDS["the noun may name a substance"].split())
_PAIRED = frozenset(_KINDS["the noun comes in pairs or has two halves"].split())
_MANY = frozenset(_KINDS["more of it may be there than the caption tells"].split())

SUBSTANCE = "the noun may name a substance"
MORE = "more of it may be there than the caption tells"
PAIRED = "the noun comes in pairs or has two halves"


def reason_of(noun: str) -> str | None:
    """Return why the number of a noun in the singular says little, or None if it is a countable object.

    >>> reason_of("group"), reason_of("giraffe")
    ('the noun names a quantity or a group', None)
    """
    return _REASONS.get(noun)


def has_kind(noun: str, reason: str) -> bool:
    """Whether a noun is listed under ``SUBSTANCE``, ``MORE`` or ``PAIRED``."""
    return noun in {SUBSTANCE: _SUBSTANCES, MORE: _MANY, PAIRED: _PAIRED}[reason]
