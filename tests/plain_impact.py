"""Another solution of single impacts, for the tests: plain time, plain vectors, extrapolation instead of power series.

The state is advanced by Gragg's midpoint rule, extrapolated to order 16. What the contact does (sticks, slips, how much of its
tangential dashpot fits into the cone of friction) is decided from forces; a step that sees it change is bisected.
"""

import math

import gmpy2
import mpmath

from polhode.references.impact import HertzMindlin, LinearSpring

COLUMNS = 8


def dot(x, y):
    return sum(a * b for a, b in zip(x, y, strict=True))


def cross(x, y):
    return [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]


def axpy(c, x, y):
    return [c * a + b for a, b in zip(x, y, strict=True)]


def multiply(p, q):
    a, b = p[1:], q[1:]
    return [p[0] * q[0] - dot(a, b), *(p[0] * y + q[0] * x + z for x, y, z in zip(a, b, cross(a, b), strict=True))]


def turned(q, x):
    """From body to lab; with the conjugate back."""
    return multiply(multiply(q, [0, *x]), conjugate(q))[1:]


def conjugate(q):
    return [q[0], -q[1], -q[2], -q[3]]


def exact(x):
    return gmpy2.mpfr(mpmath.nstr(mpmath.mpf(x), 60)) if float(x) != math.inf else gmpy2.inf()


class PlainImpact:
    """An impact between two of its times; the law is written as forces of delta and w."""

    def __init__(self, impact):
        self.impact, self.law = impact, impact.law
        self.bodies = [body for body in (impact.body, impact.partner) if body]
        self.mass = [exact(body.mass) for body in self.bodies]
        self.inertia = [[exact(x) for x in body.inertia] for body in self.bodies]
        self.radius = [exact(body.radius) for body in self.bodies]
        self.offset = [[exact(x) for x in body.offset] for body in self.bodies]
        self.mu = exact(impact.friction)
        self.of_law = {name: exact(value) for name, value in vars(self.law).items() if not callable(value)}
        if not isinstance(self.law, LinearSpring):
            e, nu = exact(impact.body.young), exact(impact.body.poisson)
            count = len(self.bodies)
            stiff, shear = e / (count * (1 - nu**2)), e / (count * 2 * (2 - nu) * (1 + nu))
            root = gmpy2.sqrt(1 / sum(1 / a for a in self.radius))
            self.hertz, self.mindlin = 4 * stiff * root / 3, 8 * shear * root
            self.reduced = 1 / sum(1 / m for m in self.mass)

    def force(self, delta, w):
        """F_n, k_t and gamma_t."""
        law = self.law
        if isinstance(law, LinearSpring):
            k, g = self.of_law["normal"], self.of_law["damping"]
            return k * delta + g * w, self.of_law["tangential"], self.of_law["tangential_damping"]
        root = gmpy2.sqrt(delta)
        if isinstance(law, HertzMindlin):
            gamma = self.of_law["alpha"] * gmpy2.sqrt(self.reduced * self.hertz * root)
        else:
            gamma = 3 * self.hertz * self.of_law["relaxation"] * root / 2
        return self.hertz * root * delta + gamma * w, self.mindlin * root, gamma * self.of_law["tangential_damping"]

    def contact(self, state):
        """n, its rate, mean spin, F_n, k_t, gamma_t, velocity in the plane, and for each body its arm and omega in the lab."""
        moving, sign = [], (1, -1)
        for i in range(len(self.bodies)):
            r, v, q, omega = (state[13 * i + a : 13 * i + b] for a, b in ((0, 3), (3, 6), (6, 10), (10, 13)))
            omega, offset = turned(q, omega), turned(q, self.offset[i])
            moving.append((axpy(1, r, offset), axpy(1, v, cross(omega, offset)), v, omega, offset))
        if len(moving) == 1:
            n, turn, delta = [0, 0, 1], [0, 0, 0], self.radius[0] - moving[0][0][2]
            reach = [self.radius[0] - (delta if self.impact.arm == "middle" else 0)]
        else:
            d = axpy(-1, moving[1][0], moving[0][0])
            gap = gmpy2.sqrt(dot(d, d))
            n, delta = [x / gap for x in d], sum(self.radius) - gap
            rate = axpy(-1, moving[1][1], moving[0][1])
            turn = [x / gap for x in axpy(-dot(rate, n), n, rate)]
            reach = [a - (delta / 2 if self.impact.arm == "middle" else 0) for a in self.radius]
        u, spin, sides = [0, 0, 0], 0, []
        for s, length, (_, _, v, omega, offset) in zip(sign, reach, moving, strict=False):
            arm = axpy(-s * length, n, offset)
            u = axpy(s, axpy(1, v, cross(omega, arm)), u)
            spin += dot(omega, n) / 2
            sides.append((s, arm, v, omega))
        w = -dot(u, n)
        return n, turn, spin if self.impact.twirl else 0, *self.force(delta, w), axpy(w, n, u), sides

    def elastic(self, state, mode, normal, stiffness):
        """Force of the tangential spring; the last three numbers are its elongation, force or, while it slips, direction."""
        x = state[-3:]
        if mode[0] == "slip":
            return [-self.mu * normal * a for a in x]
        return list(x) if self.impact.incremental else [-stiffness * a for a in x]

    def rates(self, state, mode):
        n, turn, spin, normal, stiffness, gamma, v, sides = self.contact(state)
        elastic = self.elastic(state, mode, normal, stiffness)
        share = self.share(mode, elastic, v, gamma, normal)
        force = axpy(normal, n, axpy(-share * gamma, v, elastic))
        x = state[-3:]
        if mode[0] == "slip":
            change = [a * stiffness / (self.mu * normal) for a in axpy(-dot(v, x), x, v)]
        else:
            change = [-stiffness * a for a in v] if self.impact.incremental else v
        whole = axpy(spin, n, cross(n, turn))
        result = []
        for i, (s, arm, velocity, omega) in enumerate(sides):
            q, inside = state[13 * i + 6 : 13 * i + 10], state[13 * i + 10 : 13 * i + 13]
            torque = turned(conjugate(q), cross(arm, [s * f for f in force]))
            momentum = [a * b for a, b in zip(self.inertia[i], inside, strict=True)]
            spun = [a / b for a, b in zip(axpy(-1, cross(inside, momentum), torque), self.inertia[i], strict=True)]
            result += [*velocity, *(s * f / self.mass[i] for f in force), *(x / 2 for x in multiply([0, *omega], q)), *spun]
        return result + axpy(1, change, cross(whole, x))

    def share(self, mode, elastic, v, gamma, normal):
        """Largest part of the dashpot within the cone, from |elastic - share gamma v|^2 = (mu F_n)^2."""
        if mode[1] != "capped":
            return int(mode[1] == "full")
        a, b, c = gamma**2 * dot(v, v), -gamma * dot(elastic, v), dot(elastic, elastic) - (self.mu * normal) ** 2
        if mode[0] == "slip":
            return -2 * b / a
        return (-b + gmpy2.sqrt(b * b - a * c)) / a

    def mode(self, state, mode):
        """What the contact does at a state, by what it did before."""
        _, _, _, normal, stiffness, gamma, v, _ = self.contact(state)
        if gmpy2.is_infinite(self.mu):
            return ("stick", "full")
        limit = self.mu * normal
        elastic = self.elastic(state, mode, normal, stiffness)
        if mode[0] == "slip":
            spring = "slip" if self.would_grow(state, mode, elastic, stiffness) else "stick"
        else:
            spring = "slip" if dot(elastic, elastic) > limit**2 else "stick"
        whole = axpy(-gamma, v, elastic)
        fits = dot(whole, whole) <= limit**2
        dashpot = "none" if spring == "slip" and dot(elastic, v) <= 0 else "full" if fits else "capped"
        return spring, dashpot if gamma else "none"

    def would_grow(self, state, mode, elastic, stiffness):
        """Whether a spring on the cone would leave it if it stuck, from a difference along the motion."""
        stuck = state[:-3] + (elastic if self.impact.incremental else [-f / stiffness for f in elastic])
        rates = self.rates(stuck, ("stick", mode[1]))
        small = gmpy2.mpfr(10) ** -16

        def beyond(sign):
            moved = axpy(sign * small, rates, stuck)
            _, _, _, normal, stiffness, *_ = self.contact(moved)
            force = self.elastic(moved, ("stick", ""), normal, stiffness)
            return gmpy2.sqrt(dot(force, force)) - self.mu * normal

        return beyond(1) > beyond(-1)

    def step(self, state, mode, h):
        """Gragg's rule with 2, 4, ... parts, extrapolated; the state and an estimate of its error."""
        rows = []
        for k in range(1, COLUMNS + 1):
            interval = h / (2 * k)
            before, now = state, axpy(interval, self.rates(state, mode), state)
            for _ in range(2 * k - 1):
                before, now = now, axpy(2 * interval, self.rates(now, mode), before)
            rows.append([[(a + b + interval * c) / 2 for a, b, c in zip(now, before, self.rates(now, mode), strict=True)]])
            for j in range(1, k):
                factor = 1 / ((gmpy2.mpfr(k) / (k - j)) ** 2 - 1)
                rows[-1].append([a + (a - b) * factor for a, b in zip(rows[-1][-1], rows[-2][j - 1], strict=True)])
        last, other = rows[-1][-1], rows[-1][-2]
        return last, max(abs(a - b) / size for a, b, size in zip(last, other, self.sizes, strict=True))

    def follow(self, start, end, tolerance=1e-22):
        """From one state of a solution to the time of another; the state there, and how often the contact changed."""
        state = []
        for body in start.bodies:
            state += [exact(x) for vector in (body.r, body.velocity, body.q, body.omega) for x in vector]
        spring = [exact(x) for x in start.spring]
        _, _, _, normal, stiffness, *_ = self.contact([*state, 0, 0, 0])
        size = gmpy2.sqrt(dot(spring, spring))
        slips = size > self.mu * normal * (1 - gmpy2.mpfr(10) ** -20)
        memory = spring if self.impact.incremental else [-f / stiffness for f in spring]
        if slips:
            memory = [-f / size for f in spring]
        mode = ("slip", "none") if slips else ("stick", "none")
        state += memory
        mode = self.mode(state, mode)
        speed = max(abs(x) for i in range(len(self.bodies)) for x in state[13 * i + 3 : 13 * i + 6])
        a = self.radius[0]
        self.sizes = ([a] * 3 + [speed] * 3 + [1] * 4 + [speed / a] * 3) * len(self.bodies)
        self.sizes += [1 if slips else max(abs(x) for x in memory) or a] * 3
        left, changes = exact(end.t) - exact(start.t), 0
        h = left / 50
        while left > 0:
            h = min(h, left)
            moved, error = self.step(state, mode, h)
            if error > tolerance:
                h *= 0.7
                continue
            new = self.mode(moved, mode)
            if new != mode:
                low, high = gmpy2.mpfr(0), h
                while high - low > gmpy2.sqrt(tolerance) * h:
                    middle = (low + high) / 2
                    moved, _ = self.step(state, mode, middle)
                    low, high = (middle, high) if self.mode(moved, mode) == mode else (low, middle)
                moved, _ = self.step(state, mode, high)
                h, new, changes = high, self.mode(moved, mode), changes + 1
                moved = self.converted(moved, mode, new)
            state, mode, left = moved, new, left - h
            h *= 1.3 if error < tolerance / 100 else 1
        return state, changes

    def converted(self, state, mode, new):
        if mode[0] == new[0]:
            return state
        _, _, _, normal, stiffness, *_ = self.contact(state)
        force = self.elastic(state, mode, normal, stiffness)
        if new[0] == "stick":
            return state[:-3] + (force if self.impact.incremental else [-f / stiffness for f in force])
        size = gmpy2.sqrt(dot(force, force))
        return state[:-3] + [-f / size for f in force]
