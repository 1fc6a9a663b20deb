MODULUS = 1_000_000_007


def ways(n):
    # The ways to the three stairs before the next one; below the first stair there is none.
    before3, before2, before1 = 0, 0, 1
    for _ in range(n):
        before3, before2, before1 = before2, before1, (before1 + before2 + before3) % MODULUS
    return before1


print(ways(int(input())))
