"""Print the features of this processor that NumPy uses beyond its baseline.

With ``NPY_DISABLE_CPU_FEATURES`` set to them NumPy computes as on a processor without them, where
`exp`, `log` and `pow` differ in the last bit: ``make baseline`` runs the laws and the notebooks so.
"""

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

if __name__ == "__main__":
    print(*(name for name in __cpu_dispatch__ if __cpu_features__[name]))
