"""A question asked on paper: spinner, cards, dice and coins that make a design, and the pages around them."""

from deniable.fieldkit.kit import write_kit
from deniable.fieldkit.physical import Instruction, PhysicalDevice, nearest_devices
from deniable.fieldkit.telling import QuizItem, Telling
from deniable.fieldkit.two_questions import TwoQuestions

__all__ = ["Instruction", "PhysicalDevice", "QuizItem", "Telling", "TwoQuestions", "nearest_devices", "write_kit"]
