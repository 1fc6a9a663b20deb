// Called as `checker INPUT OUTPUT ANSWER`: exit code 0 takes the answer, 1 does not. What it prints to stderr is shown.
#include <fstream>
#include <iostream>
#include <string>
using namespace std;

bool isPrime(long long number) {
    if (number < 2) return false;
    for (long long divisor = 2; divisor * divisor <= number; ++divisor)
        if (number % divisor == 0) return false;
    return true;
}

int wrong(int line, const string& why) {
    cerr << "line " << line << ": " << why << "\n";
    return 1;
}

int main(int, char** argv) {
    ifstream input(argv[1]), output(argv[2]);
    int t;
    input >> t;
    for (int line = 1; line <= t; ++line) {
        long long n, first, second;
        input >> n;
        if (!(output >> first >> second)) return wrong(line, "two numbers are missing");
        if (first < 2 || second < 2 || first + second != n)
            return wrong(line, to_string(first) + " + " + to_string(second) + " is not " + to_string(n));
        for (long long number : {first, second})
            if (!isPrime(number)) return wrong(line, to_string(number) + " is no prime");
    }
    string rest;
    if (output >> rest) return wrong(t + 1, "nothing was expected here");
    cerr << t << " pairs are right\n";
    return 0;
}
