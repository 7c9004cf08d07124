"""A question asked on paper: spinner, cards, dice and coins that make a design, and the pages around them."""

from deniable.fieldkit.kit import write_kit
from deniable.fieldkit.physical import Instruction, PhysicalDevice, nearest_devices
from deniable.fieldkit.texts import DeviceTexts, QuizItem
from deniable.fieldkit.two_questions import TwoQuestions

__all__ = [
    "DeviceTexts",
    "Instruction",
    "PhysicalDevice",
    "QuizItem",
    "TwoQuestions",
    "nearest_devices",
    "write_kit",
]
