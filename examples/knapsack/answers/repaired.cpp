#include <algorithm>
#include <iostream>
#include <vector>
using namespace std;

int main() {
    int n, room;
    cin >> n >> room;

    // best[c]: the most that the items so far are worth within capacity c.
    vector<long long> best(room + 1, 0);
    for (int i = 0; i < n; ++i) {
        int weight;
        long long value;
        cin >> weight >> value;
        // Downwards: best[c - weight] does not hold this item yet, so nothing is taken twice.
        for (int c = room; c >= weight; --c) best[c] = max(best[c], best[c - weight] + value);
    }
    cout << best[room] << "\n";
}
