#include <algorithm>
#include <iostream>
#include <vector>
using namespace std;

struct Item {
    long long weight, value;
};

int main() {
    int n;
    long long room;
    cin >> n >> room;
    vector<Item> items(n);
    for (Item& item : items) cin >> item.weight >> item.value;

    // Compared crosswise, so that nothing is lost to rounding.
    sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
        return a.value * b.weight > b.value * a.weight;
    });

    long long best = 0;
    for (const Item& item : items) {
        if (item.weight <= room) {
            room -= item.weight;
            best += item.value;
        }
    }
    cout << best << "\n";
}
