// Two clumps collide: a minimal step of a discrete element code, with the rotation that polhode generates.
//
//     c++ -std=c++11 -O2 main.cpp -o dem_step && ./dem_step 3000
//
// spiral_leapfrog.h is what "polhode code spiral_leapfrog -o spiral_leapfrog.h" writes; another method is another header and
// another prefix. Units are SI. The argument is the number of steps.

#include <cstdio>
#include <cstdlib>

#include "spiral_leapfrog.h"

using vec3 = polhode_vec3;
using quat = polhode_quat;

static vec3 operator+(vec3 a, vec3 b) { return polhode_vec3_of(a.x + b.x, a.y + b.y, a.z + b.z); }
static vec3 operator-(vec3 a, vec3 b) { return polhode_vec3_of(a.x - b.x, a.y - b.y, a.z - b.z); }
static vec3 operator*(double s, vec3 a) { return polhode_vec3_of(s * a.x, s * a.y, s * a.z); }
static double dot(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static vec3 cross(vec3 a, vec3 b)
{
    return polhode_vec3_of(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

// A vector of the body in the lab, q v q*, and back.
static vec3 to_lab(quat q, vec3 v)
{
    const vec3 u = polhode_vec3_of(q.x, q.y, q.z);
    const vec3 twice = 2.0 * cross(u, v);
    return v + q.w * twice + cross(u, twice);
}
static vec3 to_body(quat q, vec3 v) { return to_lab(polhode_quat_of(q.w, -q.x, -q.y, -q.z), v); }

const double radius = 1e-3, stiffness = 1e3;
const double sphere_mass = 2500.0 * 4.0 / 3.0 * 3.141592653589793 * radius * radius * radius;
const double mass = 3.0 * sphere_mass;
// Three spheres, about their centre of mass, along the principal axes of the clump.
const vec3 spheres[3] = {
    {-radius, -2.0 / 3.0 * radius, 0.0}, {radius, -2.0 / 3.0 * radius, 0.0}, {0.0, 4.0 / 3.0 * radius, 0.0}
};

static polhode_inertia inertia_of_clump()
{
    vec3 moments = {0.0, 0.0, 0.0};
    for (const vec3 &s : spheres) {
        const double ball = 0.4 * radius * radius;
        moments = moments
            + sphere_mass * polhode_vec3_of(ball + s.y * s.y + s.z * s.z, ball + s.z * s.z + s.x * s.x, ball + s.x * s.x + s.y * s.y);
    }
    return polhode_inertia_of(moments);
}

struct Clump {
    vec3 r, v;                      // v is half a step older than r
    spiral_leapfrog_state rotation; // what the method carries: ask it for q and omega, do not take them from it
    spiral_leapfrog_wanted wanted;  // q and omega at which the torque is needed
    vec3 force, torque;             // in the lab
};

// Forces and torques at the whole time, in the one place that knows of contacts; returns the energy of the springs.
static double contacts(Clump clumps[2])
{
    double energy = 0.0;
    for (int i = 0; i < 2; i++) {
        clumps[i].force = clumps[i].torque = polhode_vec3_of(0.0, 0.0, 0.0);
    }
    for (const vec3 &one : spheres) {
        for (const vec3 &other : spheres) {
            const vec3 arm = to_lab(clumps[0].wanted.q, one), other_arm = to_lab(clumps[1].wanted.q, other);
            const vec3 apart = (clumps[1].r + other_arm) - (clumps[0].r + arm);
            const double distance = sqrt(dot(apart, apart)), overlap = 2.0 * radius - distance;
            if (overlap > 0.0) {
                const vec3 normal = 1.0 / distance * apart, force = stiffness * overlap * normal;
                const vec3 to_point = (radius - 0.5 * overlap) * normal;
                clumps[0].force = clumps[0].force - force;
                clumps[1].force = clumps[1].force + force;
                clumps[0].torque = clumps[0].torque - cross(arm + to_point, force);
                clumps[1].torque = clumps[1].torque + cross(other_arm - to_point, force);
                energy += 0.5 * stiffness * overlap * overlap;
            }
        }
    }
    return energy;
}

struct Totals {
    double energy;
    vec3 angular_momentum;
};

// Everything at the same whole time: velocities and angular velocities are half a kick further than they are stored.
static Totals totals(Clump clumps[2], const polhode_inertia &body, double dt)
{
    Totals sum = {contacts(clumps), {0.0, 0.0, 0.0}};
    for (int i = 0; i < 2; i++) {
        const Clump &c = clumps[i];
        const vec3 v = c.v + 0.5 * dt / mass * c.force;
        const spiral_leapfrog_reading now =
            spiral_leapfrog_read(c.wanted.state, to_body(c.wanted.q, c.torque), body, dt);
        const vec3 w = now.omega;
        const vec3 spin = polhode_vec3_of(body.moments.x * w.x, body.moments.y * w.y, body.moments.z * w.z);
        sum.energy += 0.5 * mass * dot(v, v) + 0.5 * dot(w, spin);
        sum.angular_momentum = sum.angular_momentum + mass * cross(c.r, v) + to_lab(now.q, spin);
    }
    return sum;
}

int main(int count, char **words)
{
    const long steps = count > 1 ? std::atol(words[1]) : 3000;
    const double dt = 3e-3 / (double)steps;
    const polhode_inertia body = inertia_of_clump();
    const vec3 none = {0.0, 0.0, 0.0};

    Clump clumps[2];
    clumps[0].r = polhode_vec3_of(-2.3e-3, 0.0, 0.0);
    clumps[1].r = polhode_vec3_of(2.3e-3, 0.4e-3, 0.3e-3);
    clumps[0].v = polhode_vec3_of(0.5, 0.0, 0.0);
    clumps[1].v = polhode_vec3_of(-0.5, 0.0, 0.0);
    clumps[0].rotation = spiral_leapfrog_start(polhode_quat_of(1.0, 0.0, 0.0, 0.0), {300.0, -200.0, 100.0}, none, body, dt);
    clumps[1].rotation = spiral_leapfrog_start(polhode_quat_of(0.5, 0.5, -0.5, 0.5), {-100.0, 250.0, 400.0}, none, body, dt);

    Totals before = {0.0, none};
    for (long n = 0;; n++) {
        // The first part of the step of the rotation, up to where the method needs the torque.
        for (int i = 0; i < 2; i++) {
            clumps[i].wanted = spiral_leapfrog_before_torque(clumps[i].rotation, body, dt);
        }
        contacts(clumps);
        if (n == 0) {
            before = totals(clumps, body, dt);
        }
        if (n == steps) {
            break;
        }
        // The rest of it, and a leapfrog for the centres of mass.
        for (int i = 0; i < 2; i++) {
            Clump &c = clumps[i];
            c.rotation = spiral_leapfrog_after_torque(c.wanted.state, to_body(c.wanted.q, c.torque), body, dt);
            c.v = c.v + dt / mass * c.force;
            c.r = c.r + dt * c.v;
        }
    }
    const Totals after = totals(clumps, body, dt);
    const vec3 change = after.angular_momentum - before.angular_momentum;
    std::printf("velocity of the first clump: %.6f %.6f %.6f m/s\n", clumps[0].v.x, clumps[0].v.y, clumps[0].v.z);
    std::printf("relative change of the energy: %.3e\n", after.energy / before.energy - 1.0);
    std::printf(
        "relative change of the angular momentum: %.3e\n",
        sqrt(dot(change, change) / dot(before.angular_momentum, before.angular_momentum))
    );
    return 0;
}
