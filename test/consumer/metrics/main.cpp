// Prints the metrics of a process without clients.
#include <zklock/metrics/server.hpp>

#include <iostream>

int main() { std::cout << zklock::metrics::Metrics{}.text(); }
