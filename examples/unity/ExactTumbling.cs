using System.Collections;
using UnityEngine;
using Quat = ExactRotor.Quat;
using Vec3 = ExactRotor.Vec3;

[DefaultExecutionOrder(32000)] // FixedUpdate after all other scripts, before the physics step
public class ExactTumbling : MonoBehaviour
{
    readonly WaitForFixedUpdate afterStep = new WaitForFixedUpdate();
    Rigidbody body;
    ExactRotor.Inertia inertia;
    Quat before;
    Vec3 rest;
    bool ready, touching;

    void OnEnable()
    {
        body = GetComponent<Rigidbody>();
        body.angularDamping = 0f; // angularDrag before Unity 6
        body.maxAngularVelocity = 100f;
        StartCoroutine(AfterSteps());
    }

    void OnDisable()
    {
        ready = false;
        StopAllCoroutines();
    }

    void OnCollisionStay() => touching = true;

    void FixedUpdate() // give the engine the constant angular velocity of the exact turn
    {
        Physics.SyncTransforms(); // the engine learns what scripts have set in the transform
        before = Axes();
        inertia = ExactRotor.inertia_of(In(body.inertiaTensor));
        Vec3 spin = In(body.angularVelocity), omega = Rotated(Inverse(before), spin);
        if (Tumbles(omega)) {
            double dt = Time.fixedDeltaTime;
            Quat turn = ExactRotor.run(new Quat(1, 0, 0, 0), omega, inertia, (t, q, w) => new Vec3(0, 0, 0), dt, 1).q;
            double sine = System.Math.Sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
            double rate = 2 * System.Math.Atan(sine / turn.w) / (sine * dt);
            body.angularVelocity = Out(Rotated(before, new Vec3(rate * turn.x, rate * turn.y, rate * turn.z)));
        }
        rest = Plus(spin, In(-body.angularVelocity));
        ready = true;
        touching = false;
    }

    IEnumerator AfterSteps() // set the angular velocity from the momentum, with the impulses that the engine has added
    {
        while (true) {
            yield return afterStep;
            Vec3 omega = Rotated(Inverse(before), Plus(In(body.angularVelocity), rest));
            if (!ready || !Tumbles(omega)) continue;
            ready = false;
            Vec3 momentum = Rotated(before, Times(inertia.moments, omega));
            Quat after = Axes();
            body.angularVelocity = Out(Rotated(after, Times(inertia.reciprocals, Rotated(Inverse(after), momentum))));
        }
    }

    bool Tumbles(Vec3 omega) // if not, the engine moves the body and may let it sleep
    {
        Vec3 I = inertia.moments;
        double energy = 0.5 * (I.x * omega.x * omega.x + I.y * omega.y * omega.y + I.z * omega.z * omega.z);
        bool free = !body.isKinematic && I.x > 0 && I.y > 0 && I.z > 0; // a moment of 0 is a frozen axis
        return free && energy > (touching ? body.mass * body.sleepThreshold : 0f);
    }

    Quat Axes() // the principal axes in the world
    {
        Quaternion q = body.rotation * body.inertiaTensorRotation;
        double norm = System.Math.Sqrt((double)q.x * q.x + (double)q.y * q.y + (double)q.z * q.z + (double)q.w * q.w);
        return new Quat(q.w / norm, q.x / norm, q.y / norm, q.z / norm);
    }

    static Vec3 In(Vector3 v) => new Vec3(v.x, v.y, v.z);

    static Vector3 Out(Vec3 v) => new Vector3((float)v.x, (float)v.y, (float)v.z);

    static Vec3 Plus(Vec3 a, Vec3 b) => new Vec3(a.x + b.x, a.y + b.y, a.z + b.z);

    static Vec3 Times(Vec3 a, Vec3 b) => new Vec3(a.x * b.x, a.y * b.y, a.z * b.z);

    static Quat Inverse(Quat q) => new Quat(q.w, -q.x, -q.y, -q.z);

    static Vec3 Rotated(Quat q, Vec3 v)
    {
        double x = 2 * (q.y * v.z - q.z * v.y), y = 2 * (q.z * v.x - q.x * v.z), z = 2 * (q.x * v.y - q.y * v.x);
        return new Vec3(v.x + q.w * x + q.y * z - q.z * y, v.y + q.w * y + q.z * x - q.x * z, v.z + q.w * z + q.x * y - q.y * x);
    }
}
