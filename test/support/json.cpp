// Compiles all of Boost.JSON, once for a test program.
#include <boost/json/src.hpp>
