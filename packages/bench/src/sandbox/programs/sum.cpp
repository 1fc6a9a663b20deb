// The program whose run is timed: as small as a contest's first problem.
#include <iostream>

int main() {
  long one, other;
  std::cin >> one >> other;
  std::cout << one + other << "\n";
}
