using System.Collections;
using UnityEngine;
using Quat = ExactRotor.Quat;
using Vec3 = ExactRotor.Vec3;

public class ExactTumbling : MonoBehaviour
{
    IEnumerator Start()
    {
        Rigidbody body = GetComponent<Rigidbody>();
        body.angularDamping = 0f; // angularDrag before Unity 6
        body.maxAngularVelocity = 100f;
        ExactRotor.Inertia inertia = ExactRotor.inertia_of(In(body.inertiaTensor));
        WaitForFixedUpdate afterStep = new WaitForFixedUpdate();
        while (true) {
            Quat before = In(body.rotation * body.inertiaTensorRotation);
            yield return afterStep;
            Vec3 spin = In(body.angularVelocity);
            Vector3 centre = body.worldCenterOfMass;
            if (spin.x * spin.x + spin.y * spin.y + spin.z * spin.z < 0.25) continue; // a slow body is the engine's
            Vec3 omega = Rotated(new Quat(before.w, -before.x, -before.y, -before.z), spin);
            var end = ExactRotor.run(before, omega, inertia, (t, q, w) => new Vec3(0, 0, 0), Time.fixedDeltaTime, 1);
            Quaternion axes = new Quaternion((float)end.q.x, (float)end.q.y, (float)end.q.z, (float)end.q.w);
            Vec3 after = Rotated(end.q, end.omega);
            body.rotation = axes * Quaternion.Inverse(body.inertiaTensorRotation);
            body.position = centre - body.rotation * body.centerOfMass;
            body.angularVelocity = new Vector3((float)after.x, (float)after.y, (float)after.z);
        }
    }

    static Vec3 In(Vector3 v) => new Vec3(v.x, v.y, v.z);

    static Quat In(Quaternion q)
    {
        double norm = System.Math.Sqrt((double)q.x * q.x + (double)q.y * q.y + (double)q.z * q.z + (double)q.w * q.w);
        return new Quat(q.w / norm, q.x / norm, q.y / norm, q.z / norm);
    }

    static Vec3 Rotated(Quat q, Vec3 v)
    {
        double x = 2 * (q.y * v.z - q.z * v.y), y = 2 * (q.z * v.x - q.x * v.z), z = 2 * (q.x * v.y - q.y * v.x);
        return new Vec3(v.x + q.w * x + q.y * z - q.z * y, v.y + q.w * y + q.z * x - q.x * z, v.z + q.w * z + q.x * y - q.y * x);
    }
}
