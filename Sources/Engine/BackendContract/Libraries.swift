// A program that has an engine has what `Geodesy` leaves to libraries: it is linked with them.
import CGEOS
import CGeographicLib
