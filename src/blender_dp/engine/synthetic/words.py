"""The words that synthetic queries are made of."""

HEAD_QUERIES = (
    # Avent et al., JPC 9(2) 2019, top-10 table; the tenth is ours.
    *("google", "yahoo", "google.com", "myspace.com", "mapquest", "yahoo.com", "www.google.com"),
    *("myspace", "ebay", "www.yahoo.com"),
    # Ours, in the manner of the time, as many as the paper's head list has.
    *("weather", "dictionary", "ebay.com", "msn", "map directions", "hotmail", "bank of america"),
    *("www.myspace.com", "white pages", "white pages.com", "horoscopes", "american idol", "aol"),
    *("craigslist", "ask.com", "southwest airlines", "walmart", "home depot", "hotmail.com"),
    *("yellow pages", "song lyrics", "free music", "movie times", "lottery results", "recipes"),
    *("target", "local news", "zip codes", "used cars", "real estate", "baby names", "games"),
    *("cheap flights", "job search", "tax forms", "jokes", "love quotes", "tattoos", "maps"),
    *("gas prices",),
)
"""What the most popular queries read as, most popular first."""

# A hundred each, for names.py.
_ADJECTIVES = """
able amber ancient autumn best big black blue bold brave bright broad brown calm cheap clean
clear clever cold cool copper cosy crisp daily dark deep dry early east easy empty exotic fair
famous fancy fast fine first flat free fresh full gentle giant glass gold golden good grand gray
great green happy heavy hidden high holy home honest hot huge humble icy indoor ivory jolly kind
large late lazy light little local long lost loud low lucky magic mellow mild modern narrow neat
new noble north odd old olive open orange outdoor pale perfect plain polite pretty proud quiet
"""
_TREES_AND_THINGS = """
acorn alder apple apricot arrow aspen bamboo banjo barn basil basket beach bean bear beech berry
birch bird bison boat bottle brick bridge bronze butter button cabin cactus camel candle canoe
canyon carrot castle cedar cello cherry chess chestnut cider citrus clay cliff clock clover
coast cobalt coffee comet coral corn cotton cradle crane creek crystal cypress daisy deer desert
dolphin dove dragon drum eagle elm ember falcon feather fern fiddle fig finch flint flute forest
fox ginger granite grape harbor hazel heron hickory honey horse island ivy jade juniper kite
lake lantern laurel lemon lily lotus lynx maple marble
"""
_PLACES_AND_TRADES = """
academy airport albums antiques apartments auction bakery bank barber books boots builders cafe
cameras camp carpets cars catalog center chairs church cinema circus clinic clothing club coins
college company concert cooking costumes cottage county coupons courses crafts dealer dentist
design diet diner dolls doors drawings engine farm fashion festival fishing fitness florist
flowers forum furniture gallery games garage garden gifts golf grill guide guitars hall hats
health hiking history homes hospital hotel hunting insurance jewelry jobs kennel kitchen lamps
lessons library loans lodge lyrics magazine market menu motors museum music news nursery
paintings parade park photos pizza poems printers quilts
"""

ADJECTIVES = tuple(_ADJECTIVES.split())
TREES_AND_THINGS = tuple(_TREES_AND_THINGS.split())
PLACES_AND_TRADES = tuple(_PLACES_AND_TRADES.split())
