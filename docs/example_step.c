/* A step in C, to be changed: direct Euler. The state is q (scalar first, body to lab), then omega (body frame).
   body: Ix Iy Iz, 1/Ix 1/Iy 1/Iz, (Iy - Iz)/Ix (Iz - Ix)/Iy (Ix - Iy)/Iz; the torque is that of the body frame. */
#include <math.h>

void step(const double *state, const double *torque, const double *body, double dt, double *next)
{
    const double *q = state, *w = state + 4;
    double *r = next, *v = next + 4, square = 0.0;
    for (int i = 0; i < 3; i++)
        v[i] = w[i] + dt * (torque[i] * body[3 + i] + body[6 + i] * w[(i + 1) % 3] * w[(i + 2) % 3]);
    r[0] = q[0] + 0.5 * dt * (-q[1] * v[0] - q[2] * v[1] - q[3] * v[2]);
    r[1] = q[1] + 0.5 * dt * (q[0] * v[0] + q[2] * v[2] - q[3] * v[1]);
    r[2] = q[2] + 0.5 * dt * (q[0] * v[1] + q[3] * v[0] - q[1] * v[2]);
    r[3] = q[3] + 0.5 * dt * (q[0] * v[2] + q[1] * v[1] - q[2] * v[0]);
    for (int i = 0; i < 4; i++) square += r[i] * r[i];
    for (int i = 0; i < 4; i++) r[i] /= sqrt(square);
}
