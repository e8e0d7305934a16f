"""Kratos DEM: a rigid cluster of one sphere with moments of its own; its angular velocity is in the lab."""

import json
import os
import tempfile

import numpy as np
from polhode_rotations import rotated, turned_back
from polhode_sampling import stepped

CLUSTER = """Name
one
Begin centers_and_radii
0.0 0.0 0.0 0.1
End centers_and_radii

Particle_center_and_diameter
0.0 0.0 0.0 1.0

Size
1.0

Volume
1.0

Inertia per unit mass
{!r}
{!r}
{!r}
"""
EMPTY = """Begin ModelPartData
End ModelPartData
Begin Properties 1
End Properties
"""
BODY = """Begin Nodes
1 0.0 0.0 0.0
End Nodes
Begin Elements Cluster3D
1 1 1
End Elements
Begin NodalData CHARACTERISTIC_LENGTH
1 0 1.0
End NodalData
Begin NodalData ORIENTATION
1 0 [4] ( {1!r} , {2!r} , {3!r} , {0!r} )
End NodalData
Begin SubModelPart Parts_cluster
Begin SubModelPartNodes
1
End SubModelPartNodes
Begin SubModelPartElements
1
End SubModelPartElements
End SubModelPart
"""
#: No contact is made: the material only has to be complete.
MATERIAL = {
    "materials": [
        {
            "material_name": "any",
            "material_id": 1,
            "Variables": {
                "PARTICLE_DENSITY": 1.0,
                "YOUNG_MODULUS": 1e3,
                "POISSON_RATIO": 0.3,
                "CLUSTER_FILE_NAME": "one.clu",
                "BREAKABLE_CLUSTER": False,
                "DEM_CONTINUUM_CONSTITUTIVE_LAW_NAME": "DEMContinuumConstitutiveLaw",
                "PARTICLE_MATERIAL": 1,
            },
        }
    ],
    "material_relations": [
        {
            "material_names_list": ["any", "any"],
            "material_ids_list": [1, 1],
            "Variables": {
                "DEM_DISCONTINUUM_CONSTITUTIVE_LAW_NAME": "DEM_D_Hertz_viscous_Coulomb",
                "PARTICLE_COHESION": 0.0,
                "STATIC_FRICTION": 0.0,
                "DYNAMIC_FRICTION": 0.0,
                "FRICTION_DECAY": 500,
                "COEFFICIENT_OF_RESTITUTION": 1.0,
                "ROLLING_FRICTION": 0.0,
                "ROLLING_FRICTION_WITH_WALLS": 0.0,
            },
        }
    ],
    "material_assignation_table": [["ClusterPart", "any"]],
}


class Adapter:
    """Kratos DEM.

    ``option`` is one of the engine's options, ``case`` has the body and the load in SI units (:mod:`polhode_engines.protocol`),
    ``dt`` is the step in s, and ``samples`` (n,) are the numbers of steps after which the state is read, ascending.
    """

    def version(self):
        """The version of the package, as text."""
        from importlib.metadata import version

        return version("KratosDEMApplication")

    def run(self, option, case, dt, samples):
        """The input files of one cluster, and an analysis that takes steps one by one.

        It returns q (n, 4), body to lab, scalar first, and omega (n, 3), rad/s, body frame, at the samples.
        """
        home = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                return self._run(option, case, dt, samples)
            finally:
                os.chdir(home)

    def _write(self, name, text):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)

    def _run(self, option, case, dt, samples):
        import KratosMultiphysics as kratos
        import KratosMultiphysics.DEMApplication as dem
        from KratosMultiphysics.DEMApplication.DEM_analysis_stage import DEMAnalysisStage

        kratos.Logger.GetDefaultOutput().SetSeverity(kratos.Logger.Severity.WARNING)
        q0, omega0, inertia = (np.array(x, float) for x in (case.q0, case.omega0, case.inertia))
        self._write("one.clu", CLUSTER.format(*map(float, inertia)))
        self._write("oneDEM_Clusters.mdpa", EMPTY + BODY.format(*map(float, q0)))
        self._write("oneDEM.mdpa", EMPTY)
        self._write("oneDEM_FEM_boundary.mdpa", EMPTY)
        self._write("MaterialsDEM.json", json.dumps(MATERIAL))
        apart = option in ("Runge_Kutta", "Quaternion_Integration")
        settings = {
            "Dimension": 3,
            "BoundingBoxOption": False,
            "GravityX": 0.0,
            "GravityY": 0.0,
            "GravityZ": 0.0,
            "RotationOption": True,
            "CleanIndentationsOption": False,
            "solver_settings": {
                "strategy": "sphere_strategy",
                "do_search_dem_neighbours": False,
                "do_search_fem_neighbours": False,
                "RemoveBallsInitiallyTouchingWalls": False,
                "material_import_settings": {"materials_filename": "MaterialsDEM.json"},
            },
            "ElementType": "SphericPartDEMElement3D",
            "TranslationalIntegrationScheme": "Symplectic_Euler" if apart else option,
            "RotationalIntegrationScheme": option if apart else "Direct_Integration",
            "MaxTimeStep": float(dt),
            "FinalTime": 1e9,
            "OutputTimeStep": 1e9,
            "GraphExportFreq": 1e9,
            "VelTrapGraphExportFreq": 1e9,
            "NeighbourSearchFrequency": 1_000_000_000,
            "GlobalDamping": 0.0,
            "problem_name": "one",
            "post_vtk_option": False,
        }
        stage = DEMAnalysisStage(kratos.Model(), kratos.Parameters(json.dumps(settings)))
        stage.Initialize()
        node, solver = next(iter(stage.cluster_model_part.Nodes)), stage._GetSolver()

        def variable(name):
            return getattr(dem if name in dir(dem) else kratos, name)

        def put(name, value):
            node.SetSolutionStepValue(variable(name), kratos.Array3([float(x) for x in value]))

        put("ANGULAR_VELOCITY", rotated(q0, omega0))
        put("LOCAL_ANGULAR_VELOCITY", omega0)
        put("ANGULAR_MOMENTUM", rotated(q0, inertia * omega0))
        orientation, velocity = variable("ORIENTATION"), variable("ANGULAR_VELOCITY")

        def state():
            held = node.GetSolutionStepValue(orientation)
            return np.array([held.W, held.X, held.Y, held.Z]), np.array(list(node.GetSolutionStepValue(velocity)))

        def step():
            if case.load != "free":
                q_now, spin = state()
                value = np.array(case.value)
                if case.load == "velocity":
                    value = -value[0] * spin
                put("EXTERNAL_APPLIED_MOMENT", rotated(q_now, value) if case.load == "constant" else value)
            stage.time = solver.AdvanceInTime(stage.time)
            solver.Predict()
            solver.SolveSolutionStep()

        def read():
            q_now, spin = state()
            return q_now, turned_back(q_now, spin)

        result = stepped(samples, step, read)
        stage.Finalize()
        return result
