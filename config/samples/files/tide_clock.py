"""Counts the ticks of a toy tide clock."""

STEPS = [7, 3, 11, 5, 2, 9]


def turn(level, step):
    if level % 2 == 0:
        return level + 3 * step
    return level - step + 4


def main():
    level = 10
    for day in range(12):
        level = turn(level, STEPS[day % len(STEPS)])
        if level > 60:
            level //= 2
    print(level)


if __name__ == "__main__":
    main()
