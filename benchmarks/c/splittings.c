/* Splittings into rotors, and around the exact motion of the free body. */

#include "free_top.h"
#include "splitting.h"

/* ---- dlm1997.py ---- */

KERNEL motion dlm1997_drift(motion m, const inertia *b, double dt) { return rotors(m, inverses(b), dt); }
KICKED(dlm1997)
#define dlm1997_start split_start
#define dlm1997_after split_after
#define dlm1997_read split_read
ONE_TORQUE(dlm1997, 1.0, LEAVE, LEAVE)

/* ---- dlm1997_fasso.py ---- */

KERNEL motion dlm1997_fasso_drift(motion m, const inertia *b, double dt) {
    double which = best_order(b);
    return named_back(which, rotors(renamed(which, m), ordered(which, inverses(b)), dt));
}
KICKED(dlm1997_fasso)
#define dlm1997_fasso_start split_start
#define dlm1997_fasso_after split_after
#define dlm1997_fasso_read split_read
ONE_TORQUE(dlm1997_fasso, 1.0, LEAVE, LEAVE)

/* ---- touma1994.py ---- */

KERNEL motion touma1994_drift(motion m, const inertia *b, double dt) {
    double which = best_pair(b);
    vec rates = ordered(which, inverses(b));
    m = renamed(which, m);
    m.q = rotate(m.q, m.momentum, rates.y * dt);
    m = rotor1(m, rates.x - rates.y, 0.5 * dt);
    m = rotor3(m, rates.z - rates.y, dt);
    m = rotor1(m, rates.x - rates.y, 0.5 * dt);
    return named_back(which, m);
}
KICKED(touma1994)
#define touma1994_start split_start
#define touma1994_after split_after
#define touma1994_read split_read
ONE_TORQUE(touma1994, 1.0, LEAVE, LEAVE)

/* ---- exact_rotor.py ---- */

typedef split exact_rotor_state;
KERNEL split exact_rotor_before(split s, const inertia *b, double dt, quat *q, vec *omega) {
    free_turn f = free_motion(axpy(0.5 * dt, s.torque, s.momentum), b, dt);
    *q = multiply(s.q, f.turn), *omega = angular_velocity(axpy(0.5 * dt, s.torque, f.momentum), b);
    return (split){*q, f.momentum, s.torque};
}
#define exact_rotor_start split_start
#define exact_rotor_after split_after
#define exact_rotor_read split_read
ONE_TORQUE(exact_rotor, 1.0, LEAVE, LEAVE)
