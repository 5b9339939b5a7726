# needs: tensorboard matplotlib
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from torch.utils.tensorboard import SummaryWriter

writer = SummaryWriter("logs")
figure, axes = plt.subplots()
axes.plot([1, 2])
figure.canvas.draw()
plt.close()
writer.add_figure("curve", figure, 0)
writer.close()
print("written")
