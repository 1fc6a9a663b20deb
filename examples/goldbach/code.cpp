#include <iostream>
using namespace std;

bool isPrime(int number) {
    for (int divisor = 2; divisor * divisor < number; ++divisor)
        if (number % divisor == 0) return false;
    return true;
}

int main() {
    int t;
    cin >> t;
    while (t--) {
        int n;
        cin >> n;
        for (int first = 1; first <= n; ++first) {
            if (isPrime(first) && isPrime(n - first)) {
                cout << first << " " << n - first << "\n";
                break;
            }
        }
    }
}
