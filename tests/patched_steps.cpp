// The lines of docs/patches, compiled: what they use of Eigen and of their codes is written here as far as they need it, and
// tests/test_patches.py puts them into files by hunk, those of the code as it is (old) and as patched (new). Prints, one line
// each: which, steps, and the numbers at the end.

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include BASILISK_INCLUDES

using Real = double;

template <int N>
struct Numbers {
    std::array<Real, N> a{};
    static Numbers Zero() { return {}; }
    Real& operator[](int i) { return a[i]; }
    Real operator[](int i) const { return a[i]; }
    const Real* data() const { return a.data(); }
    Numbers cwiseQuotient(const Numbers& b) const { Numbers c; for (int i = 0; i < N; i++) c[i] = a[i] / b[i]; return c; }
    Numbers& operator+=(const Numbers& b) { for (int i = 0; i < N; i++) a[i] += b[i]; return *this; }
};
template <int N> Numbers<N> operator+(Numbers<N> a, const Numbers<N>& b) { return a += b; }
template <int N> Numbers<N> operator*(Real s, Numbers<N> a) { for (Real& x : a.a) x *= s; return a; }
using Vector3r = Numbers<3>;

Real dot(const Vector3r& a, const Vector3r& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector3r cross(const Vector3r& a, const Vector3r& b)
{
    return {{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
}

struct Matrix3r {
    std::array<Vector3r, 3> rows;
    Vector3r operator*(const Vector3r& v) const { return {{dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)}}; }
    Matrix3r transpose() const
    {
        Matrix3r t;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) t.rows[i][k] = rows[k][i];
        return t;
    }
};

// Eigen's order of the coefficients: x, y, z, w.
struct Quaternionr {
    Numbers<4> c;
    explicit Quaternionr(const Numbers<4>& coefficients) : c(coefficients) {}
    const Numbers<4>& coeffs() const { return c; }
    Quaternionr normalized() const
    {
        Real square = 0;
        for (Real x : c.a) square += x * x;
        return Quaternionr(1 / std::sqrt(square) * c);
    }
    void normalize() { *this = normalized(); }
    Quaternionr conjugate() const { return Quaternionr(Numbers<4>{{-c[0], -c[1], -c[2], c[3]}}); }
    Vector3r operator*(const Vector3r& v) const
    {
        const Vector3r u{{c[0], c[1], c[2]}}, t = 2.0 * cross(u, v);
        return v + c[3] * t + cross(u, t);
    }
    Matrix3r toRotationMatrix() const
    {
        Matrix3r columns;
        for (int i = 0; i < 3; i++) {
            Vector3r e;
            e[i] = 1;
            columns.rows[i] = *this * e;
        }
        return columns.transpose();
    }
};

// dq/dt for an angular velocity in the body frame.
Quaternionr DotQ(const Vector3r& omega, const Quaternionr& q)
{
    const Vector3r u{{q.c[0], q.c[1], q.c[2]}}, turn = q.c[3] * omega + cross(u, omega);
    return Quaternionr(0.5 * Numbers<4>{{turn[0], turn[1], turn[2], -dot(u, omega)}});
}

const Vector3r MOMENTS{{0.8, 1.3, 1.9}}, OMEGA{{0.9, -0.7, 1.1}}, TORQUE{{0.3, -0.4, 0.5}};
const Real END = 1.6;

// ---- YADE: leapfrogAsphericalRotate; the lines between the hunks follow its description in the file ----

struct State {
    Quaternionr ori{Numbers<4>{{0, 0, 0, 1}}};
    Vector3r angMom, angVel, inertia = MOMENTS;
};

#define BEFORE                                                              \
    const Matrix3r A = state->ori.conjugate().toRotationMatrix();           \
    const Vector3r now = A * (state->angMom + dt / 2. * M);                 \
    const Quaternionr dotQ_n = DotQ(now.cwiseQuotient(state->inertia), state->ori);
#define BETWEEN                                                             \
    const Vector3r angVel_b_half = l_b_half.cwiseQuotient(state->inertia);  \
    const Quaternionr dotQ_half = DotQ(angVel_b_half, Q_half);

void yade_old(State* state, const Real& dt, const Vector3r& M)
{
    BEFORE
#include "yade_old_0.inc"
    BETWEEN
#include "yade_old_1.inc"
}

void yade_new(State* state, const Real& dt, const Vector3r& M)
{
    BEFORE
#include "yade_new_0.inc"
    BETWEEN
#include "yade_new_1.inc"
}

void yade(const char* which, void (*rotate)(State*, const Real&, const Vector3r&), int steps)
{
    const Real dt = END / steps;
    State state;
    for (int i = 0; i < 3; i++) state.angMom[i] = MOMENTS[i] * OMEGA[i] - dt / 2 * TORQUE[i];
    for (int n = 0; n < steps; n++) rotate(&state, dt, TORQUE);
    const Numbers<4>& q = state.ori.c;
    std::printf("%s %d %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", which, steps, q[3], q[0], q[1], q[2], state.angVel[0],
                state.angVel[1], state.angVel[2]);
}

// ---- Basilisk: ExtForceTorque, called in each stage of RK4 on modified Rodrigues parameters ----

namespace Eigen {
using Vector3d = Vector3r;
Quaternionr quaternion(const Vector3r& sigma)
{
    const Real square = dot(sigma, sigma), scale = 2 / (1 + square);
    return Quaternionr(Numbers<4>{{scale * sigma[0], scale * sigma[1], scale * sigma[2], (1 - square) / (1 + square)}});
}
struct MRPd {
    Vector3r sigma;
    explicit MRPd(const Real* data) : sigma{{data[0], data[1], data[2]}} {}
    Matrix3r toRotationMatrix() const { return quaternion(sigma).toRotationMatrix(); }
};
}

struct StateData {
    Vector3r state;
    const Vector3r& getState() const { return state; }
};
struct DynParamManager {
    StateData hub;
    StateData* getStateObject(const std::string& name) { return name == "hubSigma" ? &hub : nullptr; }
};
struct ExtForceTorque {
    std::string stateNameOfSigma = "hubSigma";
    Vector3r torqueExternalPntB_B;
#include "basilisk_new_0.inc"
    void linkInStates(DynParamManager& statesIn);
    void computeForceTorque()
    {
#include "basilisk_new_3.inc"
    }
};
#include "basilisk_new_2.inc"

void basilisk(int steps, bool held)
{
    DynParamManager manager;
    ExtForceTorque effector;
    effector.linkInStates(manager);
    const Real dt = END / steps;
    Numbers<6> state{{0, 0, 0, OMEGA[0], OMEGA[1], OMEGA[2]}};
    auto slope = [&](const Numbers<6>& at) {
        const Vector3r sigma{{at[0], at[1], at[2]}}, omega{{at[3], at[4], at[5]}};
        manager.hub.state = sigma;
        effector.computeForceTorque();
        const Vector3r c = cross(sigma, omega), L{{MOMENTS[0] * omega[0], MOMENTS[1] * omega[1], MOMENTS[2] * omega[2]}};
        const Vector3r turn = (1 - dot(sigma, sigma)) * omega + 2.0 * c + 2 * dot(sigma, omega) * sigma;
        const Vector3r rate = (effector.torqueExternalPntB_B + -1.0 * cross(omega, L)).cwiseQuotient(MOMENTS);
        return Numbers<6>{{turn[0] / 4, turn[1] / 4, turn[2] / 4, rate[0], rate[1], rate[2]}};
    };
    for (int n = 0; n < steps; n++) {
        // Set once a step, as users do without the patch; or given in the inertial frame.
        if (held)
            effector.extTorquePntB_B = Eigen::quaternion({{state[0], state[1], state[2]}}).conjugate() * TORQUE;
        else
            effector.extTorquePntB_N = TORQUE;
        const auto k1 = slope(state), k2 = slope(state + dt / 2 * k1), k3 = slope(state + dt / 2 * k2),
                   k4 = slope(state + dt * k3);
        state = state + dt / 6 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    }
    const Numbers<4> q = Eigen::quaternion({{state[0], state[1], state[2]}}).c;
    std::printf("%s %d %.17g %.17g %.17g %.17g\n", held ? "basilisk_old" : "basilisk_new", steps, q[3], q[0], q[1], q[2]);
}

int main(int count, char** steps)
{
    for (int i = 1; i < count; i++) {
        const int n = std::atoi(steps[i]);
        yade("yade_old", yade_old, n);
        yade("yade_new", yade_new, n);
        basilisk(n, true);
        basilisk(n, false);
    }
}
