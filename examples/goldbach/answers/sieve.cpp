#include <iostream>
#include <vector>
using namespace std;

const int LIMIT = 1000000;

int main() {
    vector<bool> isPrime(LIMIT + 1, true);
    isPrime[0] = isPrime[1] = false;
    for (int number = 2; number * number <= LIMIT; ++number) {
        if (!isPrime[number]) continue;
        for (int multiple = number * number; multiple <= LIMIT; multiple += number) isPrime[multiple] = false;
    }

    int t;
    cin >> t;
    while (t--) {
        int n;
        cin >> n;
        int first = 2;
        while (!isPrime[first] || !isPrime[n - first]) ++first;
        cout << first << " " << n - first << "\n";
    }
}
