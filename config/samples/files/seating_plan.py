guests = ["Odalys", "Bram", "Ferelith", "Cosmo", "Ines", "Tancred", "Wilhelmina"]

# Everyone moves three seats to the left, then the shorter name of each pair is called.
moved = guests[3:] + guests[:3]
for first, second in zip(moved[::2], moved[1::2]):
    print(first if len(first) <= len(second) else second)

queue = list(moved)
while len(queue) > 1:
    queue.append(queue.pop(0))
    queue.pop(0)
print("Host:", queue[0])
