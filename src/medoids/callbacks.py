"""scikit-learn's own callbacks, such as its ``ProgressBar``, where the installed version has them (1.9 and later).

To scikit-learn a fit is a task and each record of the trace a subtask. Its interface is experimental: this is the only
file that knows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from medoids.result import TraceRecord

__all__ = ["CallbackSupportMixin", "reporting_steps"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""


@contextmanager
def reporting_steps(estimator: Any, X: Any, y: Any) -> Iterator[Callable[[TraceRecord], object] | None]:
    """Give the fit its callback: the user's own, and after it those that ``set_callbacks`` registered."""
    if not hasattr(estimator, "_init_callback_context"):
        yield estimator.callback
        return

    # A callback is torn down when what `with_callbacks` wraps ends, so wrapping nothing tears down. To wrap `fit`
    # itself would put one more frame between the user and a warning, which then pointed into scikit-learn.
    @with_callbacks  # type: ignore[untyped-decorator]
    def tear_down(estimator: Any) -> None:
        pass

    try:
        context = estimator._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        yield _told(estimator, context, X, y)
        context.call_on_fit_task_end(estimator=estimator, X=X, y=y)
    finally:
        tear_down(estimator)


def _told(estimator: Any, context: Any, X: Any, y: Any) -> Callable[[TraceRecord], object] | None:
    own: Any = estimator.callback
    if not getattr(estimator, "_skl_callbacks", None) or not (own is None or callable(own)):
        return own  # type: ignore[no-any-return]  # what cannot be called is refused by the fit

    def tell(step: TraceRecord) -> object:
        answer = own(step) if own is not None else None
        task = context.subcontext(task_name=step.phase)
        task.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        return True if task.call_on_fit_task_end(estimator=estimator, X=X, y=y) else answer

    return tell
