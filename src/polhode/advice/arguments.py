"""Names of arguments that belong together, and the words that some of them may be."""

#: Materials of contacts: the arguments that give a contact time together.
MATERIAL = ("young", "poisson", "density", "radius", "speed")
#: The walls, where they are of another one.
WALLS = ("wall_young", "wall_poisson")
#: What else a question about contacts with friction and damping says.
RUBBING = ("friction", "restitution", "law", "purpose", "code")
#: What an answer about contacts may be for.
PURPOSES = ("impacts", "bulk")
