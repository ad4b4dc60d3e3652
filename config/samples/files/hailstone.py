def hailstone(n):
    """Length of the path from n down to 1."""
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def longest(limit):
    best = max(range(1, limit), key=hailstone)
    return best, hailstone(best)


if __name__ == "__main__":
    for value in (6, 7, 9):
        print(value, hailstone(value))
