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

    // What is worth most per kilogram goes in first.
    sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
        return a.value / a.weight > b.value / b.weight;
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
