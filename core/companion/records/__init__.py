"""What people write down themselves: tasks, appointments, drinks, meals, places. Rows, and the event of each change."""
